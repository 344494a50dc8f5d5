package org.rowankv.server.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.WorkerIo;
import org.rowankv.rdma.rowan.RowanSender;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.topology.Configuration;

/**
 * The queue senders of one worker or agent, one to each other server, made when first used. Owned by it. Nobody waits here:
 * while a connection is being made there is none.
 */
public final class Links implements AutoCloseable {
    private final Endpoint endpoint;
    private final Configuration configuration;
    private final Clock clock;
    private final ErrorLog errors;
    private final IntConsumer wakeUp;
    private final @Nullable RowanSender[] senders;
    private final List<@Nullable CompletableFuture<QueuePair>> opening = new ArrayList<>();
    /** By server: when an attempt failed after which others would fail too for a while. */
    private final long[] failedNs;

    private final boolean[] failed;
    private @Nullable WorkerIo io;
    private boolean usesReserve;
    private final OwnedCounter reconnects = new OwnedCounter();
    private final OwnedCounter creditRefusals = new OwnedCounter();
    /** Of connections that are gone. */
    private final OwnedCounter notReadyBefore = new OwnedCounter();

    /** @param wakeUp tells a server's agents that somebody waits for a posted segment there */
    public Links(Endpoint endpoint, Configuration configuration, Clock clock, ErrorLog errors, IntConsumer wakeUp) {
        this.endpoint = endpoint;
        this.configuration = configuration;
        this.clock = clock;
        this.errors = errors;
        this.wakeUp = wakeUp;
        this.senders = new @Nullable RowanSender[configuration.serverCount()];
        this.failedNs = new long[configuration.serverCount()];
        this.failed = new boolean[configuration.serverCount()];
        for (int server = 0; server < configuration.serverCount(); server++) {
            opening.add(null);
        }
    }

    /** These links carry the records that let receivers free segments: they may use what is kept in reserve for that. */
    public Links useReserve() {
        usesReserve = true;
        return this;
    }

    /** Before they are used: whose turns their I/O is to be done in, where the fabric's queue pairs have any. */
    public Links at(WorkerIo home) {
        io = home;
        return this;
    }

    private CompletableFuture<QueuePair> connect(int server) {
        final long incarnation = configuration.incarnations().get(server);
        final WorkerIo home = io;
        return home == null
                ? endpoint.connectAsync(server, incarnation, configuration.term())
                : endpoint.connectAsync(server, incarnation, configuration.term(), home);
    }

    /** The sender to a server, or null when it cannot be connected now. */
    public @Nullable RowanSender sender(int server) {
        final RowanSender sender = senders[server];
        return sender != null && !sender.isFenced() ? sender : reconnect(server);
    }

    /** The last sender to a server, if there is one; also if it is fenced, since what it holds is given back through it too. */
    @Nullable
    RowanSender last(int server) {
        return senders[server];
    }

    /** A fenced queue pair stays dead; only a new handshake, which names incarnation and term, makes a new one. */
    private @Nullable RowanSender reconnect(int server) {
        CompletableFuture<QueuePair> attempt = opening.get(server);
        if (attempt == null) {
            if (failed[server] && clock.nanoTime() - failedNs[server] < endpoint.retryNs()) {
                return null;
            }
            attempt = connect(server);
        }
        if (!attempt.isDone()) {
            opening.set(server, attempt);
            return null;
        }
        opening.set(server, null);
        failed[server] = false;
        try {
            return connected(server, attempt.join());
        } catch (CompletionException e) {
            failed[server] = endpoint.retryNs() > 0;
            failedNs[server] = failed[server] ? clock.nanoTime() : 0;
            final Throwable cause = e.getCause();
            if (cause instanceof FabricException) {
                errors.reportExpected("connecting to server " + server, cause);
                return null;
            }
            throw e;
        }
    }

    private RowanSender connected(int server, QueuePair pair) {
        final RowanSender fenced = senders[server];
        final RowanSender fresh = new RowanSender(pair);
        if (usesReserve) {
            fresh.pair().useReserve();
        }
        senders[server] = fresh;
        if (fenced != null) {
            end(fenced);
        }
        return fresh;
    }

    void notReady(int server) {
        wakeUp.accept(server);
    }

    /** The connection is of no use any more: the next call of {@link #sender} makes another. */
    void drop(int server) {
        final RowanSender sender = senders[server];
        senders[server] = null;
        if (sender != null) {
            end(sender);
        }
    }

    private void end(RowanSender sender) {
        reconnects.add(1);
        notReadyBefore.add(sender.notReady());
        sender.close();
    }

    void countCreditRefusal() {
        creditRefusals.add(1);
    }

    /** Times that a server granted less credit than an entry needs. */
    public long creditRefusals() {
        return creditRefusals.get();
    }

    public long reconnects() {
        return reconnects.get();
    }

    /** Times a receiver had no segment posted. */
    public long notReadyCount() {
        long sum = notReadyBefore.get();
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
        for (CompletableFuture<QueuePair> attempt : opening) {
            if (attempt != null) {
                final var unused = attempt.thenAccept(QueuePair::close);
            }
        }
    }
}
