package org.rowankv.server.replication;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.QueuePair;
import org.rowankv.runtime.ErrorLog;

/** The queue pairs of one worker or agent, one to each other server, made when first used. Owned by it. */
public final class Links implements AutoCloseable {
    private final Endpoint endpoint;
    private final Configuration configuration;
    private final ErrorLog errors;
    private final IntConsumer wakeUp;
    private final @Nullable QueuePair[] pairs;
    private long reconnects;

    /** @param wakeUp tells a server's agents that somebody waits for a posted segment there */
    public Links(Endpoint endpoint, Configuration configuration, ErrorLog errors, IntConsumer wakeUp) {
        this.endpoint = endpoint;
        this.configuration = configuration;
        this.errors = errors;
        this.wakeUp = wakeUp;
        this.pairs = new @Nullable QueuePair[configuration.serverCount()];
    }

    /** The queue pair to a server, or null when it cannot be connected now. */
    @Nullable QueuePair pair(int server) {
        final QueuePair pair = pairs[server];
        return pair != null && !pair.isFenced() ? pair : reconnect(server);
    }

    /** A fenced queue pair stays dead; only a new handshake, which names incarnation and term, makes a new one. */
    private @Nullable QueuePair reconnect(int server) {
        final QueuePair fenced = pairs[server];
        try {
            final QueuePair fresh =
                    endpoint.connect(server, configuration.incarnations().get(server), configuration.term());
            pairs[server] = fresh;
            if (fenced != null) {
                reconnects++;
                fenced.close();
            }
            return fresh;
        } catch (FabricException e) {
            errors.report("connecting to server " + server, e);
            return null;
        }
    }

    void notReady(int server) {
        wakeUp.accept(server);
    }

    public long reconnects() {
        return reconnects;
    }

    @Override
    public void close() {
        for (QueuePair pair : pairs) {
            if (pair != null) {
                pair.close();
            }
        }
    }
}
