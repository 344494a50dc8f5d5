package org.rowankv.server.replication;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.rowan.RowanSender;
import org.rowankv.runtime.ErrorLog;

/** The queue senders of one worker or agent, one to each other server, made when first used. Owned by it. */
public final class Links implements AutoCloseable {
    private final Endpoint endpoint;
    private final Configuration configuration;
    private final ErrorLog errors;
    private final IntConsumer wakeUp;
    private final @Nullable RowanSender[] senders;
    private boolean usesReserve;
    private long reconnects;

    /** @param wakeUp tells a server's agents that somebody waits for a posted segment there */
    public Links(Endpoint endpoint, Configuration configuration, ErrorLog errors, IntConsumer wakeUp) {
        this.endpoint = endpoint;
        this.configuration = configuration;
        this.errors = errors;
        this.wakeUp = wakeUp;
        this.senders = new @Nullable RowanSender[configuration.serverCount()];
    }

    /** These links carry the records that let receivers free segments: they may use what is kept in reserve for that. */
    public Links useReserve() {
        usesReserve = true;
        return this;
    }

    /** The sender to a server, or null when it cannot be connected now. */
    public @Nullable RowanSender sender(int server) {
        final RowanSender sender = senders[server];
        return sender != null && !sender.isFenced() ? sender : reconnect(server);
    }

    /** A fenced queue pair stays dead; only a new handshake, which names incarnation and term, makes a new one. */
    private @Nullable RowanSender reconnect(int server) {
        final RowanSender fenced = senders[server];
        try {
            final RowanSender fresh = new RowanSender(
                    endpoint.connect(server, configuration.incarnations().get(server), configuration.term()));
            if (usesReserve) {
                fresh.pair().useReserve();
            }
            senders[server] = fresh;
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

    /** The connection is of no use any more: the next call of {@link #sender} makes another. */
    void drop(int server) {
        final RowanSender sender = senders[server];
        senders[server] = null;
        if (sender != null) {
            reconnects++;
            sender.close();
        }
    }

    public long reconnects() {
        return reconnects;
    }

    /** Times a receiver had no segment posted, over the present connections. */
    public long notReadyCount() {
        long sum = 0;
        for (RowanSender sender : senders) {
            sum += sender == null ? 0 : sender.notReady();
        }
        return sum;
    }

    @Override
    public void close() {
        for (RowanSender sender : senders) {
            if (sender != null) {
                sender.close();
            }
        }
    }
}
