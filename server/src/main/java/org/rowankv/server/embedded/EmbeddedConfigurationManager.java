package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.engine.Server;
import org.rowankv.server.manager.DueChanges;
import org.rowankv.server.manager.ShardReports;
import org.rowankv.server.manager.TransferAnswers;
import org.rowankv.server.membership.TransferRequest;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration manager (§4.3 of the paper) of a store in one process. What it changes is what the manager of a
 * cluster changes in the same place; but its servers live and end together. So none is excluded, none holds a lease, and
 * a configuration that is stored is prepared and in force at all of them in the same duty cycle.
 *
 * <p>An agent of its own, since it waits for the store. Thread-safe.
 */
final class EmbeddedConfigurationManager implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedConfigurationManager.class);

    private static final String CLOSED = "the store is closed";
    private static final long PARK_NS = 20_000;
    private static final long AFTER_FAILURE_NS = 1_000_000_000;
    /** What is asked for wakes it. */
    private static final long IDLE_NS = 1_000_000_000;

    private final StoreFiles files;
    private final List<Server> servers;
    private final Clock clock;
    private final Scheduling scheduling;
    private final ErrorLog errors;
    private final Function<InternalError, RuntimeException> whenFaulty;
    private final DueChanges due = new DueChanges(this::wakeUp);
    private final Queue<Transfer> arrived = new ConcurrentLinkedQueue<>();
    private final List<TransferRequest> asked = new ArrayList<>();
    private final List<Transfer> transfers = new ArrayList<>();
    private final List<Consumer<Configuration>> observers = new CopyOnWriteArrayList<>();
    private final AtomicInteger joinsCompleted = new AtomicInteger();
    private final AtomicInteger keepers = new AtomicInteger();
    private volatile boolean deciding;
    private volatile boolean closed;
    private volatile Configuration newest;
    private volatile Configuration inForce;
    private volatile @Nullable RuntimeException failure;
    private volatile @Nullable AgentHandle handle;
    private long retryNs;

    private final TransferAnswers answers = new TransferAnswers() {
        @Override
        public void done(TransferRequest request) {
            end(request, "");
        }

        @Override
        public void refused(TransferRequest request, String why) {
            end(request, why);
        }
    };

    /**
     * @param servers grows until all are open, before the {@link #start}
     * @param whenFaulty stops the store after a memory fault
     */
    EmbeddedConfigurationManager(
            StoreFiles files,
            List<Server> servers,
            Clock clock,
            Scheduling scheduling,
            ErrorLog errors,
            Function<InternalError, RuntimeException> whenFaulty) {
        this.files = files;
        this.servers = servers;
        this.clock = clock;
        this.scheduling = scheduling;
        this.errors = errors;
        this.whenFaulty = whenFaulty;
        this.newest = files.configuration();
        this.inForce = newest;
    }

    void start() {
        final AgentHandle taken = scheduling.take(this, errors);
        handle = taken;
        taken.start();
    }

    /** Ends it; what is asked for stays undone. */
    void close() {
        final AgentHandle taken = handle;
        if (taken != null) {
            taken.close();
        }
        closed = true;
        arrived.forEach(transfer -> transfer.end(CLOSED));
        transfers.forEach(transfer -> transfer.end(CLOSED));
    }

    private void wakeUp() {
        final AgentHandle taken = handle;
        if (taken != null) {
            taken.wakeUp();
        }
    }

    /** The stored configuration: from now on its epochs may be in use. */
    Configuration newest() {
        return newest;
    }

    /** The configuration that is in force at all servers. */
    Configuration inForce() {
        return inForce;
    }

    /** Receives each later configuration once it is in force. */
    void observe(Consumer<Configuration> observer) {
        observers.add(observer);
    }

    void stopObserving(Consumer<Configuration> observer) {
        observers.remove(observer);
    }

    /** Servers whose replicas became complete since the start. */
    int joinsCompleted() {
        return joinsCompleted.get();
    }

    // --- what is asked for ---

    /**
     * As {@link org.rowankv.server.engine.EpochSupplier}, for shards whose primary a server is: the epochs come with a
     * later configuration.
     *
     * @throws RuntimeException that the last attempt to store a configuration has met; it is repeated
     */
    @Nullable
    Configuration renew(int server, List<Integer> shards) {
        report(due.renewals(), server, inForce.epochs(shards));
        return null;
    }

    /**
     * Reports the epochs in which a server's replicas are complete; returns whether all are stored as such.
     *
     * @throws RuntimeException as {@link #renew}
     */
    boolean completed(int server, Map<Integer, Integer> epochs) {
        final Configuration present = inForce;
        if (epochs.keySet().stream().noneMatch(shard -> present.shard(shard).isJoining(server))) {
            return true;
        }
        report(due.completions(), server, epochs);
        return false;
    }

    private void report(ShardReports reports, int server, Map<Integer, Integer> epochs) {
        reports.report(server, inForce.incarnations().get(server), epochs);
        final RuntimeException met = failure;
        if (met != null) {
            throw met;
        }
    }

    Transfer transfer(int shard, int to) {
        final Transfer transfer = new Transfer(new TransferRequest(shard, to, "", 0), servers);
        arrived.add(transfer);
        if (closed) {
            transfer.end(CLOSED);
        }
        wakeUp();
        return transfer;
    }

    /** From now on no primary moves, until as many calls of {@link #mayMove}; but see {@link #awaitStill}. */
    void mayNotMove() {
        keepers.incrementAndGet();
    }

    void mayMove() {
        keepers.decrementAndGet();
        wakeUp();
    }

    /** After {@link #mayNotMove}: waits until those that move are open; false if the limit is reached, or it is cancelled. */
    boolean awaitStill(WaitLimit limit, BooleanSupplier isCancelled) {
        while (isMoving()) {
            if (limit.isOver() || isCancelled.getAsBoolean()) {
                return false;
            }
            servers.forEach(Server::wakeUp);
            scheduling.park(PARK_NS);
        }
        return true;
    }

    private boolean isMoving() {
        return deciding
                || files.configuration().term() > inForce.term()
                || servers.stream()
                        .anyMatch(server ->
                                !server.isStopped() && server.roleChanges().unopenedShards() > 0);
    }

    // --- the changes ---

    @Override
    public String roleName() {
        return "manager";
    }

    @Override
    public long idleNs() {
        return failure == null ? IDLE_NS : 0;
    }

    @Override
    public int doWork() {
        if (isAnyStopped() || failure != null && !mayRetry()) {
            return 0;
        }
        for (Transfer next = arrived.poll(); next != null; next = arrived.poll()) {
            transfers.add(next);
            asked.add(next.request());
        }
        if (failure == null && asked.isEmpty() && !due.hasReports()) {
            return 0;
        }
        deciding = true;
        try {
            final Configuration stored = files.change(this::next);
            failure = null;
            if (stored.term() <= inForce.term()) {
                return 0;
            }
            follow(stored);
            return 1;
        } catch (RuntimeException e) {
            errors.report("storing a configuration", e);
            failure = e;
            retryNs = clock.nanoTime() + AFTER_FAILURE_NS;
            return 1;
        } catch (InternalError e) {
            errors.report("storing a configuration", whenFaulty.apply(e));
            return 1;
        } finally {
            deciding = false;
        }
    }

    private boolean isAnyStopped() {
        for (Server server : servers) {
            if (server.isStopped()) {
                return true;
            }
        }
        return false;
    }

    /** Not while no primary may move: what was attempted may be stored, and move one. */
    private boolean mayRetry() {
        return clock.nanoTime() - retryNs >= 0 && keepers.get() == 0;
    }

    /** Null if nothing is due, or what is stored has to be put in force first. */
    private @Nullable Configuration next(Configuration stored) {
        if (stored.term() > inForce.term()) {
            return null;
        }
        final Configuration completed = due.completed(stored);
        if (completed != null) {
            return completed;
        }
        final Configuration renewed = due.renewed(stored);
        return renewed != null || keepers.get() > 0 ? renewed : DueChanges.handedOver(stored, asked, Set.of(), answers);
    }

    private void follow(Configuration next) {
        newest = next;
        Chaos.point("manager.stored");
        for (Server server : servers) {
            if (!server.joining().join(next)) {
                throw new AssertionError(
                        "term " + next.term() + " gives server " + server.serverId() + " a replica while it runs");
            }
            server.roleChanges().prepared(next);
        }
        for (Server server : servers) {
            Chaos.point("manager.commit");
            server.roleChanges().committed(next);
        }
        final Configuration before = inForce;
        inForce = next;
        for (int server = 0; server < next.serverCount(); server++) {
            if (before.isJoining(server) && !next.isJoining(server)) {
                joinsCompleted.incrementAndGet();
                LOG.info("replicas complete: server={} term={}", server, next.term());
            }
        }
        for (Consumer<Configuration> observer : observers) {
            try {
                observer.accept(next);
            } catch (RuntimeException e) {
                errors.report("following term " + next.term(), e);
            }
        }
    }

    private void end(TransferRequest request, String refusal) {
        transfers.removeIf(transfer -> {
            final boolean isIts = transfer.request().equals(request);
            if (isIts) {
                transfer.end(refusal);
            }
            return isIts;
        });
    }
}
