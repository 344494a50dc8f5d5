package org.rowankv.server.cluster;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.runtime.agent.Signal;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.engine.Server;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.Registrations;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server of a cluster in which each is a process of its own. Becomes a member, starts together with the others, serves,
 * and starts again with them whenever one of them has started anew or the roles have changed: every start is a new
 * incarnation of every server, and begins with an agreement on what everybody has.
 *
 * <p>Guarantees: it holds no role but by a stored configuration that names its incarnation, and none of a lower term than
 * it once adopted. While a server of the cluster is away, operations that need it wait.
 *
 * <p>For any thread. Does its work on a thread of its own from {@link #start} to {@link #close}.
 */
public final class ClusterServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);
    private static final long LOOK_WHILE_STARTING_MS = 100;
    private static final long LOOK_WHILE_SERVING_MS = 300;
    /** While the store says when something may have changed. */
    private static final long LOOK_IN_ANY_CASE_MS = 3000;

    private final ClusterSettings settings;
    private final ClusterContext around;
    private final ClusterNodes nodes;
    private final Signal signal;
    private boolean watched;
    private volatile @Nullable RunningTask work;
    private volatile boolean closing;
    private volatile StartPhase phase = StartPhase.JOINING;
    private final WaitLog saying;
    private volatile int serverId = -1;

    private volatile @Nullable RuntimeException failure;
    /** It has stopped itself by a failure that struck while it ran. */
    private volatile boolean stopped;

    private volatile @Nullable RoleTerm round;
    /** By the last start of the roles, for the next one. */
    private ChangeFeedHandover changeFeedHandover = ChangeFeedHandover.NONE;

    private long lookedNs;
    /** The agents want another start of roles. */
    private volatile boolean startWanted;
    /** Why there is none although it was wanted, until the agents read it. */
    private volatile @Nullable ConfigurationStoreException whyNoStart;

    /** Checks nothing yet but the settings; {@link #start} goes on. */
    public ClusterServer(ClusterSettings settings, ClusterContext surroundings) {
        this.settings = settings;
        this.around = surroundings;
        this.saying = new WaitLog(LOG, settings.name(), surroundings.clock());
        this.nodes = new ClusterNodes(
                surroundings.store(),
                new Registrations(settings.cluster(), settings.secret()),
                settings.name() + "-" + Long.toHexString(surroundings.random().nextLong()),
                surroundings.random().fork("stamps"));
        this.signal = surroundings.scheduling().signal();
        surroundings.errors().whenBroken(this::stopServing);
    }

    public void start() {
        watched = around.store().watch(signal::give);
        work = around.scheduling().begin("rowan-cluster-" + settings.name(), false, this::run);
    }

    ClusterSettings settings() {
        return settings;
    }

    ClusterContext surroundings() {
        return around;
    }

    // --- what others ask ---

    public StartPhase phase() {
        return phase;
    }

    /** What it waits for, or why it failed; empty if all is well. */
    public String saying() {
        return saying.text();
    }

    /** Its number in the cluster, or −1 before it has one. */
    public int serverId() {
        return serverId;
    }

    /** Why it cannot go on, or null. */
    public @Nullable RuntimeException failure() {
        return failure;
    }

    /** Whether an agent was stopped or a device failed: not a start that was refused. */
    public boolean hasStoppedItself() {
        return stopped;
    }

    /** The configuration that it serves in, or starts; null before there is one. */
    public @Nullable Configuration configuration() {
        final RoleTerm present = round;
        return present == null ? null : present.configuration();
    }

    /** Whoever serves now, or null. */
    public @Nullable Server server() {
        final RoleTerm present = round;
        return present == null || phase != StartPhase.SERVING ? null : present.server();
    }

    /** Waits until the server has come to its end by itself, or was closed. */
    public void awaitEnd() {
        final RunningTask started = work;
        if (started != null) {
            started.join();
        }
    }

    /** Lets operations under way end, as long as the settings allow, and stops. */
    @Override
    public void close() {
        closing = true;
        signal.give();
        awaitEnd();
    }

    /**
     * As {@link org.rowankv.server.engine.EpochSupplier}: the servers start anew together, and each shard gets a new epoch then. By the
     * server's agents; the store is asked by this server's thread.
     */
    @Nullable
    Configuration askForStart(List<Integer> shards) {
        final ConfigurationStoreException before = whyNoStart;
        whyNoStart = null;
        startWanted = true;
        signal.give();
        if (before != null) {
            throw before;
        }
        LOG.info(
                "server {}: the versions of shards {} need new epochs: the servers start anew",
                settings.name(),
                shards);
        return null;
    }

    // --- the thread ---

    private void run() {
        try {
            runInDirectory();
            phase = StartPhase.STOPPED;
            saying.set("");
        } catch (ClosedWhileWaiting e) {
            phase = StartPhase.STOPPED;
        } catch (RuntimeException e) {
            failed(e);
        } catch (Error e) {
            // What is half done stays so, as after a crash: the process is about to end.
            final AgentStoppedException why = new AgentStoppedException("cluster-" + settings.name(), e);
            stopServing(why);
            failed(why);
            throw e;
        } finally {
            around.door().close();
        }
    }

    private void failed(RuntimeException why) {
        failure = why;
        saying.set(String.valueOf(why.getMessage()));
        phase = StartPhase.FAILED;
        if (stopped) {
            LOG.error("server {} stopped itself: {}", settings.name(), why.getMessage());
        } else if (why instanceof ClusterException
                || why instanceof StoreOpenException
                || why instanceof LostAreaException) {
            LOG.error("server {} cannot run: {}", settings.name(), why.getMessage());
        } else {
            LOG.error("server {} failed", settings.name(), why);
        }
    }

    private void runInDirectory() {
        try (DataDirectory directory = around.homes()
                .open(settings.dir(), settings.name(), settings.cluster(), settings.acceptCopied(), around.random())) {
            final Membership membership = new Membership(this, nodes, directory);
            final Members members = retried(membership::join);
            serverId = members.numberOf(settings.name());
            final StoredRoles roles = new StoredRoles(settings, around, nodes, saying, members, directory.identity());
            final Area area = retried(() -> new AreaOpening(settings, around, roles).open(directory));
            try {
                area.startForcing(around.scheduling(), around.errors(), this::stopServing);
                while (!closing) {
                    oneRound(area, roles);
                }
                requireNotStopped(); // also while operations ended
                area.closeClean();
            } catch (ClosedWhileWaiting e) {
                area.closeClean(); // nobody touches it any more, and it is as whole as after a crash of the process
                throw e;
            } catch (RuntimeException e) {
                area.close();
                throw e;
            }
        }
    }

    /** A device failed, or an agent was stopped: nothing is acknowledged any more, and there is nothing else to be done. */
    private void stopServing(RuntimeException why) {
        failure = why;
        stopped = true;
        signal.give();
        final RoleTerm present = round;
        final Server server = present == null ? null : present.server();
        if (server != null) {
            server.fail(why);
        }
    }

    /** @throws RuntimeException if the server has stopped itself: what an agent has left half done is not closed as whole */
    private void requireNotStopped() {
        final RuntimeException broken = failure;
        if (broken != null) {
            throw broken;
        }
    }

    private void oneRound(Area area, StoredRoles roles) {
        phase = StartPhase.RECOVERING;
        saying.set("");
        startWanted = false;
        whyNoStart = null;
        final RoleTerm next = new RoleTerm(this, area, roles, changeFeedHandover);
        changeFeedHandover = ChangeFeedHandover.NONE;
        round = next;
        final Patience patience = new Patience(next, roles);
        try {
            next.recover(retried(roles::stored).configuration());
            phase = StartPhase.STARTING;
            next.begin(awaitRoles(area, next, roles), patience);
            phase = StartPhase.SERVING;
            saying.goesOn();
            serve(area, next, roles);
            next.drain(settings.drainMs());
        } catch (StaleTermException e) {
            LOG.info("server {} starts anew with the others: {}", settings.name(), e.getMessage());
            phase = StartPhase.STARTING;
            next.abandon("the server starts anew: " + e.getMessage());
            changeFeedHandover = next.changeFeedHandover();
        } catch (RuntimeException e) {
            phase = StartPhase.STARTING;
            next.abandon("the server stops: " + e.getMessage());
            throw e;
        }
    }

    /** Announces the incarnation, and waits for the configuration in which it has its roles. */
    private Configuration awaitRoles(Area area, RoleTerm own, StoredRoles roles) {
        while (true) {
            final Configuration chosen = retriedOrNull(() -> roles.find(area, own));
            if (chosen != null) {
                return chosen;
            }
            pause(watched ? LOOK_IN_ANY_CASE_MS : LOOK_WHILE_STARTING_MS);
        }
    }

    private void serve(Area area, RoleTerm present, StoredRoles roles) {
        while (!closing) {
            pause(watched ? LOOK_IN_ANY_CASE_MS : LOOK_WHILE_SERVING_MS);
            area.requireFile();
            final Server server = present.server();
            if (server != null && server.isStopped()) {
                stopped = true;
                throw new IllegalStateException(
                        "the server's agents were stopped by a broken invariant, which is in the log above");
            }
            try {
                roles.requireUnchanged(present);
                if (startWanted && roles.supersede(present)) {
                    signal.give();
                }
                saying.goesOn();
            } catch (ConfigurationStoreException e) {
                whyNoStart = startWanted ? e : null;
                saying.waits("the configuration store is away; the data path goes on", ": " + e.getMessage());
                backOff();
            }
        }
    }

    /** While it agrees with the others: looks now and then whether there is any use in it. */
    private final class Patience implements PeerCalls.Patience {
        private final RoleTerm present;
        private final StoredRoles roles;

        Patience(RoleTerm present, StoredRoles roles) {
            this.present = present;
            this.roles = roles;
        }

        @Override
        public void check() {
            if (closing) {
                throw new ClosedWhileWaiting();
            }
            requireNotStopped();
            final long nowNs = around.clock().nanoTime();
            if (nowNs - lookedNs < LOOK_WHILE_SERVING_MS * 1_000_000) {
                return;
            }
            lookedNs = nowNs;
            try {
                roles.requireUnchanged(present);
                reportSilentServers(present, roles.members());
            } catch (ConfigurationStoreException e) {
                saying.waits("the configuration store is away", ": " + e.getMessage());
            }
        }
    }

    // --- waiting ---

    /** Thrown where the server was closed while it waited. */
    private static final class ClosedWhileWaiting extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    interface Attempt<T> {
        @Nullable
        T make();
    }

    /** Tries until the configuration store is there. */
    private <T> @Nullable T retriedOrNull(Attempt<T> attempt) {
        while (true) {
            try {
                return attempt.make();
            } catch (ConfigurationStoreException e) {
                saying.waits("waiting for the configuration store", ": " + e.getMessage());
                backOff();
            }
        }
    }

    private <T> T retried(Attempt<T> attempt) {
        final T result = retriedOrNull(attempt);
        if (result == null) {
            throw new AssertionError("nothing came of it");
        }
        return result;
    }

    /** Behind a look that failed: waits as long as that takes, whatever the store says meanwhile. */
    private void backOff() {
        final long fromNs = around.clock().nanoTime();
        long leftMs = LOOK_WHILE_SERVING_MS;
        while (leftMs > 0 && !closing && failure == null) {
            pause(leftMs);
            leftMs = LOOK_WHILE_SERVING_MS - (around.clock().nanoTime() - fromNs) / 1_000_000;
        }
    }

    /**
     * Waits a moment, or less if there is something to do.
     *
     * @throws RuntimeException if the server has stopped itself
     */
    void pause(long ms) {
        if (closing && phase != StartPhase.SERVING) {
            throw new ClosedWhileWaiting();
        }
        try {
            // One look for all that it was given for.
            final boolean unused = signal.await(ms * 1_000_000);
        } catch (InterruptedException e) {
            closing = true; // whoever interrupts this thread wants it to end
        }
        requireNotStopped();
        if (closing && phase != StartPhase.SERVING) {
            throw new ClosedWhileWaiting();
        }
    }

    void await(BooleanSupplier condition, PeerCalls.Patience patience) {
        while (!condition.getAsBoolean()) {
            patience.check();
            around.scheduling().park(1_000_000);
        }
    }

    /** Waits for that, so long at most; whether it came. */
    boolean awaitFor(BooleanSupplier condition, long ms) {
        final long fromNs = around.clock().nanoTime();
        while (!condition.getAsBoolean()) {
            if (around.clock().nanoTime() - fromNs >= ms * 1_000_000) {
                return condition.getAsBoolean();
            }
            around.scheduling().park(1_000_000);
        }
        return true;
    }

    private void reportSilentServers(RoleTerm present, Members members) {
        final StringBuilder names = new StringBuilder();
        final StringBuilder why = new StringBuilder();
        for (int server : present.silent()) {
            final String name = members.names().get(server);
            names.append(names.isEmpty() ? " server " : ", server ").append(name);
            final HostAndPort address = around.addresses().of(server);
            names.append(address == null ? "" : " at " + address);
            final String refusal = present.lastRefusal(server);
            why.append(refusal.isEmpty() ? "" : "; last refusal by " + name + ": " + refusal);
        }
        saying.waits(
                "agreeing with the other servers on what all have" + (names.isEmpty() ? "" : "; waiting for" + names),
                why.toString());
    }

    /** Says what it waits for. */
    void say(String what) {
        saying.waits(what, "");
    }
}
