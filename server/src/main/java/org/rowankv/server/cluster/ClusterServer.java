package org.rowankv.server.cluster;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MembershipView;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.runtime.agent.Signal;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.engine.Server;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.Registrations;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server of a cluster of processes. Joins the cluster, takes part in the coordinated start, serves, and restarts
 * with the others when all have to. Every start gives every server a new incarnation
 * and begins with a reconciliation of the logs.
 *
 * <p>Guarantees: it holds no role except by a stored configuration with its incarnation, and none of a lower term than
 * it has adopted. While a server of the cluster is unreachable, operations that need it wait.
 *
 * <p>Thread-safe. Works on its own thread from {@link #start} to {@link #close}.
 */
public final class ClusterServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);
    private static final long POLL_WHILE_STARTING_MS = 100;
    static final long POLL_WHILE_SERVING_MS = 300;
    /** Poll interval while the store sends change notifications. */
    private static final long POLL_WHILE_WATCHED_MS = 3000;

    private final ClusterSettings settings;
    private final ClusterContext context;
    private final ClusterNodes nodes;
    private final Signal signal;
    private final LatencyHistogram leaseMargins = new LatencyHistogram();
    private boolean watched;
    private volatile @Nullable RunningTask work;
    private volatile boolean closing;
    /** Until then others may take over its roles, when it is closing. */
    private volatile long leavesByNs;

    private volatile StartPhase phase = StartPhase.JOINING;
    private final WaitLog waitLog;
    private volatile int serverId = -1;

    private volatile @Nullable RuntimeException failure;
    /** A failure at run time has stopped it. */
    private volatile boolean stopped;

    private final UnreachableMembers unreachable;
    private volatile @Nullable RoleTerm roleTerm;
    /** From the last role term, for the next one. */
    private ChangeFeedHandover changeFeedHandover = ChangeFeedHandover.NONE;

    private long checkedNs;
    private final StoreHints hints = new StoreHints();

    /** Checks only the settings; {@link #start} does the rest. */
    public ClusterServer(ClusterSettings settings, ClusterContext context) {
        this.settings = settings;
        this.context = context;
        this.waitLog = new WaitLog(LOG, settings.name(), context.clock());
        this.nodes = new ClusterNodes(
                context.store(),
                new Registrations(settings.cluster(), settings.secret()),
                settings.name() + "-" + Long.toHexString(context.random().nextLong()),
                context.random().fork("stamps"));
        this.signal = context.scheduling().signal();
        this.unreachable = new UnreachableMembers(settings.startWaitMs() * 1_000_000);
        context.errors().whenBroken(this::stopServing);
    }

    public void start() {
        watched = context.store().watch(path -> {
            if (hints.changed(path, context.clock().nanoTime())) {
                signal.give();
            }
        });
        work = context.scheduling().begin("rowan-cluster-" + settings.name(), false, this::run);
    }

    ClusterSettings settings() {
        return settings;
    }

    ClusterContext context() {
        return context;
    }

    // --- state ---

    public StartPhase phase() {
        return phase;
    }

    /** The present wait or the failure; empty if there is none. */
    public String saying() {
        return waitLog.text();
    }

    /** Whether it is about to stop. */
    public boolean isClosing() {
        return closing;
    }

    /** Its number in the cluster, or −1 if not assigned yet. */
    public int serverId() {
        return serverId;
    }

    /** Cause of the end, or null. */
    public @Nullable RuntimeException failure() {
        return failure;
    }

    /** Whether an agent was stopped or a device failed, as opposed to a refused start. */
    public boolean hasStoppedItself() {
        return stopped;
    }

    /** The configuration of its present role term; null before the first. */
    public @Nullable Configuration configuration() {
        final RoleTerm present = roleTerm;
        return present == null ? null : present.configuration();
    }

    /** The configuration whose roles are in force; null before it serves. */
    public @Nullable Configuration inForce() {
        final RoleTerm present = roleTerm;
        return present == null ? null : present.inForce();
    }

    /** For tests: which connections it admits. */
    @Nullable
    MembershipView membership() {
        return roleTerm;
    }

    /** Whether it may answer without its backups now. */
    public boolean mayAnswer() {
        final RoleTerm present = roleTerm;
        return present != null && present.mayAnswer();
    }

    /** The serving engine, or null. */
    public @Nullable Server server() {
        final RoleTerm present = roleTerm;
        return present == null || phase != StartPhase.SERVING ? null : present.server();
    }

    /** The use of checkpoints since it last read its area; null before it serves. */
    public @Nullable CheckpointStatistics checkpoints() {
        final RoleTerm present = roleTerm;
        return present == null || phase != StartPhase.SERVING ? null : present.checkpoints();
    }

    /** How much of each lease was left when it was renewed; 0 if it was over. */
    public LatencyHistogram leaseMargins() {
        return leaseMargins;
    }

    /** What it has of shards of which it is no complete replica. */
    public List<FormerReplica> formerReplicas() {
        final RoleTerm present = roleTerm;
        return present == null || phase == StartPhase.RECOVERING ? List.of() : present.former();
    }

    /** Waits until the server has ended or was closed. */
    public void awaitEnd() {
        final RunningTask started = work;
        if (started != null) {
            started.join();
        }
    }

    /** Lets others take over its roles, and drains pending operations, each within the settings' limit; then it stops. */
    @Override
    public void close() {
        close(settings.drainMs() * 1_000_000);
    }

    /** Stops without letting others take over first: for them it is as if the process was killed. */
    void closeAtOnce() {
        close(0);
    }

    private void close(long leavesForNs) {
        beginToClose(leavesForNs);
        signal.give();
        awaitEnd();
    }

    private void beginToClose(long leavesForNs) {
        leavesByNs = context.clock().nanoTime() + leavesForNs;
        closing = true;
    }

    /** Whether it waits no longer for others to take over its roles. */
    boolean isLeaveOver() {
        return context.clock().nanoTime() - leavesByNs >= 0;
    }

    // --- the thread ---

    private void run() {
        try {
            runInDirectory();
            phase = StartPhase.STOPPED;
            waitLog.set("");
        } catch (ClosedWhileWaiting e) {
            phase = StartPhase.STOPPED;
        } catch (RuntimeException e) {
            failed(e);
        } catch (Error e) {
            // Partial work stays as it is, as after a crash: the process is about to end.
            final AgentStoppedException why = new AgentStoppedException("cluster-" + settings.name(), e);
            stopServing(why);
            failed(why);
            throw e;
        } finally {
            context.door().close();
        }
    }

    private void failed(RuntimeException why) {
        failure = why;
        waitLog.set(String.valueOf(why.getMessage()));
        phase = StartPhase.FAILED;
        if (stopped) {
            LOG.error("ROWAN-2013 server {} stopped itself: {}", settings.name(), why.getMessage());
        } else if (why instanceof ClusterException
                || why instanceof StoreOpenException
                || why instanceof LostAreaException) {
            LOG.error("ROWAN-2014 server {} cannot run: {}", settings.name(), why.getMessage());
        } else {
            LOG.error("ROWAN-2015 server {} failed", settings.name(), why);
        }
    }

    private void runInDirectory() {
        try (DataDirectory directory = context.homes()
                .open(settings.dir(), settings.name(), settings.cluster(), settings.acceptCopied(), context.random())) {
            final Membership membership = new Membership(this, nodes, directory);
            final Members members = retried(membership::join);
            serverId = members.numberOf(settings.name());
            final StoredRoles roles = new StoredRoles(settings, context, nodes, waitLog, members, directory.identity());
            final Area area = retried(() -> new AreaOpening(this, roles).open(directory));
            try {
                area.startForcing(context.scheduling(), context.errors(), this::stopServing);
                while (!closing) {
                    runTerm(area, roles);
                    requireNotStopped(); // also after the drain
                }
                area.closeClean();
            } catch (ClosedWhileWaiting e) {
                area.closeClean(); // no thread accesses it any more, and it is intact as after a crash of the process
                throw e;
            } catch (RuntimeException e) {
                area.close();
                throw e;
            }
        }
    }

    /** Stops service after a device failure or a stopped agent: nothing is acknowledged any more. */
    void stopServing(RuntimeException why) {
        failure = why;
        stopped = true;
        signal.give();
        final RoleTerm present = roleTerm;
        final Server server = present == null ? null : present.server();
        if (server != null) {
            server.fail(why);
        }
    }

    /** @throws RuntimeException if the server has stopped itself: an agent's partial work must not be closed cleanly */
    void requireNotStopped() {
        final RuntimeException broken = failure;
        if (broken != null) {
            throw broken;
        }
    }

    private void runTerm(Area area, StoredRoles roles) {
        phase = StartPhase.RECOVERING;
        waitLog.set("");
        final RoleTerm next = new RoleTerm(this, area, roles, changeFeedHandover);
        changeFeedHandover = ChangeFeedHandover.NONE;
        roleTerm = next;
        final StartPatience patience = new StartPatience(this, next, roles, waitLog, unreachable);
        try {
            next.recover(retried(roles::stored).configuration());
            phase = StartPhase.STARTING;
            next.begin(awaitRoles(area, next, roles), patience);
            phase = StartPhase.SERVING;
            unreachable.served();
            waitLog.goesOn();
            serve(area, next, roles);
            new Leaving(this, next).run();
            next.drain(settings.drainMs());
        } catch (StaleTermException e) {
            LOG.info("coordinated restart: server={} cause={}", settings.name(), e.getMessage());
            phase = StartPhase.STARTING;
            next.abandon("the server restarts: " + e.getMessage());
            changeFeedHandover = next.changeFeedHandover();
        } catch (RuntimeException e) {
            phase = StartPhase.STARTING;
            next.abandon("the server stops: " + e.getMessage());
            throw e;
        }
    }

    /** Registers the incarnation, and waits for the configuration that assigns its roles. */
    private Configuration awaitRoles(Area area, RoleTerm own, StoredRoles roles) {
        while (true) {
            final Configuration chosen = retriedOrNull(() -> roles.find(area, own));
            if (chosen != null) {
                return chosen;
            }
            pause(watched ? POLL_WHILE_WATCHED_MS : POLL_WHILE_STARTING_MS);
        }
    }

    private void serve(Area area, RoleTerm present, StoredRoles roles) {
        while (!closing) {
            final long pollMs = watched ? POLL_WHILE_WATCHED_MS : POLL_WHILE_SERVING_MS;
            pauseNs(hints.untilDueNs(context.clock().nanoTime(), pollMs * 1_000_000));
            area.requireFile();
            try {
                manage(present, roles);
                waitLog.follow(present.managerSays());
            } catch (ClosedWhileWaiting e) {
                return; // it drains
            } catch (ConfigurationStoreException e) {
                waitLog.waits("the configuration store is unreachable; the data path continues", ": " + e.getMessage());
                backOff();
            }
        }
    }

    /** What is due may follow from what the store has, and does not need it always. */
    private void manage(RoleTerm present, StoredRoles roles) {
        try {
            readStore(present, roles);
        } catch (ConfigurationStoreException e) {
            present.manage();
            throw e;
        }
        present.manage();
    }

    /** What may have changed, and everything from time to time, since hints may be lost. */
    private void readStore(RoleTerm present, StoredRoles roles) {
        final long nowNs = context.clock().nanoTime();
        if (nowNs - checkedNs >= POLL_WHILE_SERVING_MS * 1_000_000) {
            checkedNs = nowNs;
            hints.all(nowNs);
        }
        if (hints.takeConfiguration(nowNs)) {
            roles.requireNamed(present);
        }
        if (hints.takeRegistrations()) {
            roles.readRegistrations();
        }
        if (hints.takeRequests()) {
            present.readRequests();
        }
    }

    /** Ends when the server closes or has stopped itself. */
    PeerCalls.Patience patienceWhileOpen() {
        return () -> {
            if (closing && (phase != StartPhase.SERVING || isLeaveOver())) {
                throw new ClosedWhileWaiting();
            }
            requireNotStopped();
        };
    }

    /** Wakes this server's thread: the leases need it. */
    void alarm() {
        signal.give();
    }

    ClusterNodes nodes() {
        return nodes;
    }

    // --- waiting ---

    /** Thrown when the server is closed during a wait. */
    static final class ClosedWhileWaiting extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    interface Attempt<T> {
        @Nullable
        T make();
    }

    /** Retries while the configuration store is unreachable. */
    private <T> @Nullable T retriedOrNull(Attempt<T> attempt) {
        while (true) {
            try {
                return attempt.make();
            } catch (ConfigurationStoreException e) {
                waitLog.waits("waiting for the configuration store", ": " + e.getMessage());
                backOff();
            }
        }
    }

    private <T> T retried(Attempt<T> attempt) {
        final T result = retriedOrNull(attempt);
        if (result == null) {
            throw new AssertionError("the attempt returned nothing");
        }
        return result;
    }

    /** After a failed access: waits the whole interval, whatever the store signals meanwhile. */
    private void backOff() {
        final long fromNs = context.clock().nanoTime();
        long leftMs = POLL_WHILE_SERVING_MS;
        while (leftMs > 0 && !closing && failure == null) {
            pause(leftMs);
            leftMs = POLL_WHILE_SERVING_MS - (context.clock().nanoTime() - fromNs) / 1_000_000;
        }
    }

    /**
     * Waits that long, or until a signal.
     *
     * @throws RuntimeException if the server has stopped itself
     */
    void pause(long ms) {
        pauseNs(ms * 1_000_000);
    }

    private void pauseNs(long ns) {
        if (closing && phase != StartPhase.SERVING) {
            throw new ClosedWhileWaiting();
        }
        try {
            // One check serves all signals so far.
            final boolean unused = signal.await(ns);
        } catch (InterruptedException e) {
            beginToClose(0); // an interrupt ends this thread
        }
        requireNotStopped();
        if (closing && phase != StartPhase.SERVING) {
            throw new ClosedWhileWaiting();
        }
    }

    void await(BooleanSupplier condition, PeerCalls.Patience patience) {
        while (!condition.getAsBoolean()) {
            patience.check();
            context.scheduling().park(1_000_000);
        }
    }

    /** Waits at most that long for the condition; returns whether it holds. */
    boolean awaitFor(BooleanSupplier condition, long ms) {
        final long fromNs = context.clock().nanoTime();
        while (!condition.getAsBoolean()) {
            if (context.clock().nanoTime() - fromNs >= ms * 1_000_000) {
                return condition.getAsBoolean();
            }
            context.scheduling().park(1_000_000);
        }
        return true;
    }

    /** Logs the present wait. */
    void say(String what) {
        waitLog.waits(what, "");
    }
}
