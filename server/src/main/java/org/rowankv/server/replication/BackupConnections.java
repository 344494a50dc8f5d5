package org.rowankv.server.replication;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.QueuePair;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.shard.Roles;

/**
 * The queue pairs of one worker or agent, one per other server, connected on first use. Owned by it. Never blocks:
 * {@link #pair} returns null while a connection is being made.
 *
 * <p>A pair leads to one incarnation of its server, the one of the roles that the owner has adopted last.
 */
public final class BackupConnections implements AutoCloseable {
    private final Endpoint endpoint;
    private final Clock clock;
    private final ErrorLog errors;
    private final IntConsumer wakeUp;
    private Roles roles;
    private final @Nullable QueuePair[] pairs;
    private final List<@Nullable CompletableFuture<QueuePair>> connecting = new ArrayList<>();
    /** By server: the time of the last failed attempt; others would fail too for a while. */
    private final long[] failedNs;

    private final boolean[] failed;
    private @Nullable IoPoller io;
    private boolean usesReserve;
    private final OwnedCounter reconnects = new OwnedCounter();
    private final OwnedCounter creditRefusals = new OwnedCounter();
    private final OwnedCounter notReady = new OwnedCounter();

    /** @param wakeUp signals a server's agents that a sender waits for a posted segment there */
    public BackupConnections(Endpoint endpoint, Roles roles, Clock clock, ErrorLog errors, IntConsumer wakeUp) {
        this.endpoint = endpoint;
        this.roles = roles;
        this.clock = clock;
        this.errors = errors;
        this.wakeUp = wakeUp;
        this.pairs = new @Nullable QueuePair[roles.serverCount()];
        this.failedNs = new long[roles.serverCount()];
        this.failed = new boolean[roles.serverCount()];
        for (int server = 0; server < roles.serverCount(); server++) {
            connecting.add(null);
        }
    }

    /** These connections carry the records that let receivers free segments: they may use the reserve kept for that. */
    public BackupConnections useReserve() {
        usesReserve = true;
        return this;
    }

    /** Sets the poller of their I/O, where the fabric's queue pairs have one. Call before first use. */
    public BackupConnections at(IoPoller home) {
        io = home;
        return this;
    }

    /** Ends the pairs and the attempts that lead to incarnations without roles from now on. */
    void adopt(Roles next) {
        final Roles before = roles;
        roles = next;
        for (int server = 0; server < pairs.length; server++) {
            if (before.incarnation(server) != next.incarnation(server)) {
                final CompletableFuture<QueuePair> attempt = connecting.set(server, null);
                if (attempt != null) {
                    final var unused = attempt.thenAccept(QueuePair::close);
                }
                failed[server] = false;
                drop(server);
            }
        }
    }

    private CompletableFuture<QueuePair> connect(int server) {
        final long incarnation = roles.incarnation(server);
        final IoPoller home = io;
        return home == null
                ? endpoint.connectAsync(server, incarnation, roles.term())
                : endpoint.connectAsync(server, incarnation, roles.term(), home);
    }

    /** The pair to a server, or null when it cannot be connected now. */
    public @Nullable QueuePair pair(int server) {
        final QueuePair pair = pairs[server];
        return pair != null && !pair.isFenced() ? pair : reconnect(server);
    }

    /** The last pair to a server, if any, even if it is fenced: its credit is released through it. */
    @Nullable
    QueuePair last(int server) {
        return pairs[server];
    }

    /** A fenced queue pair stays dead; only a new handshake, which names incarnation and term, creates a new one. */
    private @Nullable QueuePair reconnect(int server) {
        CompletableFuture<QueuePair> attempt = connecting.get(server);
        if (attempt == null) {
            if (failed[server] && clock.nanoTime() - failedNs[server] < endpoint.retryNs()) {
                return null;
            }
            attempt = connect(server);
        }
        if (!attempt.isDone()) {
            connecting.set(server, attempt);
            return null;
        }
        connecting.set(server, null);
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

    private QueuePair connected(int server, QueuePair pair) {
        final QueuePair fenced = pairs[server];
        if (usesReserve) {
            pair.useReserve();
        }
        pairs[server] = pair;
        if (fenced != null) {
            end(fenced);
        }
        return pair;
    }

    void notReady(int server) {
        countNotReady();
        wakeUp.accept(server);
    }

    /** Invalidates the connection: the next call of {@link #pair} makes another. */
    void drop(int server) {
        final QueuePair pair = pairs[server];
        pairs[server] = null;
        if (pair != null) {
            end(pair);
        }
    }

    private void end(QueuePair pair) {
        reconnects.add(1);
        pair.close();
    }

    void countNotReady() {
        notReady.add(1);
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

    /** Times that a receiver had no segment posted. */
    public long notReadyCount() {
        return notReady.get();
    }

    @Override
    public void close() {
        for (QueuePair pair : pairs) {
            if (pair != null) {
                pair.close();
            }
        }
        for (CompletableFuture<QueuePair> attempt : connecting) {
            if (attempt != null) {
                final var unused = attempt.thenAccept(QueuePair::close);
            }
        }
    }
}
