package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.agent.Signal;
import org.rowankv.runtime.agent.StartedWork;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.area.OpenConsent;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.directory.ServerHome;
import org.rowankv.server.engine.Server;
import org.rowankv.server.membership.AnnouncedServers;
import org.rowankv.server.membership.Announcement;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.FirstDistribution;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.Members;
import org.rowankv.server.membership.Registrations;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.RoundOverException;
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
    private final ClusterSurroundings around;
    private final ClusterNodes nodes;
    private final AnnouncedServers announced = new AnnouncedServers();
    private final Signal signal;
    private boolean watched;
    private volatile @Nullable StartedWork work;
    private volatile boolean closing;
    private volatile Phase phase = Phase.JOINING;
    private final StateLog saying;
    private volatile int serverId = -1;
    private volatile long identity;
    /** Where clients reach each server; empty where they do not. */
    private volatile List<String> clientAddresses = List.of();

    private volatile @Nullable RuntimeException failure;
    /** It has stopped itself by a failure that struck while it ran. */
    private volatile boolean stopped;

    private volatile @Nullable Round round;
    /** By the last start of the roles, for the next one. */
    private KeptChanges keptChanges = KeptChanges.NONE;

    private long lookedNs;
    /** The agents want another start of roles. */
    private volatile boolean startWanted;
    /** Why there is none although it was wanted, until the agents read it. */
    private volatile @Nullable ConfigurationStoreException whyNoStart;

    /** Checks nothing yet but the settings; {@link #start} goes on. */
    public ClusterServer(ClusterSettings settings, ClusterSurroundings surroundings) {
        this.settings = settings;
        this.around = surroundings;
        this.saying = new StateLog(LOG, settings.name(), surroundings.clock());
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

    ClusterSurroundings surroundings() {
        return around;
    }

    // --- what others ask ---

    public Phase phase() {
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
        final Round present = round;
        return present == null ? null : present.configuration();
    }

    /** Whoever serves now, or null. */
    public @Nullable Server server() {
        final Round present = round;
        return present == null || phase != Phase.SERVING ? null : present.server();
    }

    /** Waits until the server has come to its end by itself, or was closed. */
    public void awaitEnd() {
        final StartedWork started = work;
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
            phase = Phase.STOPPED;
            saying.set("");
        } catch (ClosedWhileWaiting e) {
            phase = Phase.STOPPED;
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
        phase = Phase.FAILED;
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
        try (ServerHome directory = around.homes()
                .open(settings.dir(), settings.name(), settings.cluster(), settings.acceptCopied(), around.random())) {
            final Membership membership = new Membership(this, nodes, directory);
            final Members members = retried(membership::join);
            serverId = members.numberOf(settings.name());
            final Area area = retried(() -> openArea(directory, members));
            try {
                area.startForcing(around.scheduling(), around.errors(), this::stopServing);
                while (!closing) {
                    oneRound(area, members);
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
        final Round present = round;
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

    private Area openArea(ServerHome directory, Members members) {
        final ClusterNodes.Stored stored = configuration(members);
        final long known = stored.configuration().incarnations().get(serverId);
        final AreaSettings areaSettings = new AreaSettings(
                directory.areaFile(serverId),
                settings.capacityBytes(),
                settings.shape().segmentBytes(),
                serverId,
                members.clusterId(),
                settings.shape().shards(),
                settings.shape().durability(),
                settings.shape().servers(),
                settings.shape().replicas());
        if (!directory.hasArea(serverId) && known > 0) {
            throw new ClusterException("the data of server '" + settings.name() + "' are missing in " + directory.path()
                    + ": it has been started " + known + " times before. Give it the directory that it had, or put that"
                    + " back from a backup");
        }
        final Area area = directory.hasArea(serverId)
                ? directory.openArea(areaSettings, new OpenConsent(settings.acceptUnclean(), settings.acceptCopied()))
                : directory.createArea(areaSettings, around.random());
        try {
            requireNewest(area, stored.configuration());
            if (known == 0 && area.superblock().incarnation() == 0) {
                beginTenures(area, stored.configuration());
            }
            return area;
        } catch (RuntimeException e) {
            area.close();
            throw e;
        }
    }

    private void beginTenures(Area area, Configuration first) {
        for (int shard = 0; shard < first.shardCount(); shard++) {
            if (first.shard(shard).isReplica(serverId) && area.tenures().tenure(shard) == 0) {
                area.tenures().put(shard, first.shard(shard).epoch());
            }
        }
        area.drain();
    }

    private void requireNewest(Area area, Configuration stored) {
        if (area.superblock().term() > stored.term()) {
            throw new ClusterException("server '" + settings.name() + "' has adopted term "
                    + area.superblock().term() + ", but the configuration store holds term " + stored.term()
                    + ": what is stored for cluster '" + settings.cluster()
                    + "' is older than the data. Put the newest back from a backup of the configuration store");
        }
        final long known = stored.incarnations().get(serverId);
        if (area.superblock().incarnation() < known) {
            throw new ClusterException("the data of server '" + settings.name() + "' are those of its start "
                    + area.superblock().incarnation() + ", but it has been started " + known
                    + " times: they are older than the configuration. Give it the directory that it had last");
        }
    }

    /** The stored configuration; the first one is stored by whoever comes first. */
    private ClusterNodes.Stored configuration(Members members) {
        ClusterNodes.Stored stored = nodes.configuration();
        while (stored == null) {
            final boolean unused = nodes.decide(FirstDistribution.of(members), ConfigurationStore.ABSENT);
            stored = nodes.configuration();
        }
        if (stored.configuration().clusterId() != members.clusterId()
                || stored.configuration().serverCount() != members.names().size()) {
            throw new ClusterException("the stored configuration of cluster '" + settings.cluster()
                    + "' is that of another cluster: put the right one back from a backup of the configuration store");
        }
        return stored;
    }

    private void oneRound(Area area, Members members) {
        phase = Phase.RECOVERING;
        saying.set("");
        startWanted = false;
        whyNoStart = null;
        final Round next = new Round(this, area, members.names().size(), keptChanges);
        keptChanges = KeptChanges.NONE;
        round = next;
        final Patience patience = new Patience(next, members);
        try {
            next.recover(retried(() -> configuration(members)).configuration());
            phase = Phase.STARTING;
            next.begin(awaitRoles(area, next, members), patience);
            phase = Phase.SERVING;
            saying.goesOn();
            serve(area, next, members);
            next.drain(settings.drainMs());
        } catch (RoundOverException e) {
            LOG.info("server {} starts anew with the others: {}", settings.name(), e.getMessage());
            phase = Phase.STARTING;
            next.abandon("the server starts anew: " + e.getMessage());
            keptChanges = next.keptChanges();
        } catch (RuntimeException e) {
            phase = Phase.STARTING;
            next.abandon("the server stops: " + e.getMessage());
            throw e;
        }
    }

    /** Announces the incarnation, and waits for the configuration in which it has its roles. */
    private Configuration awaitRoles(Area area, Round own, Members members) {
        while (true) {
            final Configuration chosen = retriedOrNull(() -> {
                nodes.announce(announcement(area, own)); // again, if something else has overwritten it
                return roles(area, own, members);
            });
            if (chosen != null) {
                return chosen;
            }
            pause(watched ? LOOK_IN_ANY_CASE_MS : LOOK_WHILE_STARTING_MS);
        }
    }

    private Announcement announcement(Area area, Round own) {
        // The directory's identity is what the members know the server by; its area has been found to be of that
        // cluster.
        return new Announcement(
                settings.name(),
                identityOf(area),
                settings.advertised(),
                settings.clients(),
                settings.admin(),
                settings.zone(),
                settings.shape(),
                own.incarnation(),
                own.nonce());
    }

    private long identityOf(Area area) {
        assert area.serverId() == serverId;
        return identity;
    }

    void identity(long ofDirectory) {
        identity = ofDirectory;
    }

    List<String> clientAddresses() {
        return clientAddresses;
    }

    /** A number that nobody has drawn before, and not 0. */
    long drawn() {
        final long number = around.random().nextLong();
        return number == 0 ? 1 : number;
    }

    private @Nullable Configuration roles(Area area, Round own, Members members) {
        final ClusterNodes.Stored stored = configuration(members);
        final Configuration found = stored.configuration();
        requireNewest(area, found);
        final List<Long> incarnations = new ArrayList<>();
        final List<String> behind = new ArrayList<>();
        final List<String> clients = new ArrayList<>();
        for (int server = 0; server < members.names().size(); server++) {
            final Announcement said = nodes.announcement(members.names().get(server));
            final long announced = said == null ? 0 : said.incarnation();
            if (said != null) {
                heard(server, said);
            }
            if (announced <= found.incarnations().get(server)) {
                behind.add(members.names().get(server) + (said == null ? "" : " (at " + said.address() + ")"));
            }
            clients.add(said == null ? "" : said.clients());
            incarnations.add(announced);
        }
        clientAddresses = List.copyOf(clients);
        if (found.incarnations().get(serverId) == own.incarnation()) {
            saying.goesOn();
            return found;
        }
        if (behind.isEmpty()) {
            // Whoever is first decides; the others read it.
            final boolean unused = nodes.decide(found.restarted(incarnations), stored.version());
            return null;
        }
        say("waiting for " + (behind.size() == 1 ? "server " : "servers ") + String.join(", ", behind)
                + ": a cluster starts when all of its servers are there");
        return null;
    }

    private void heard(int server, Announcement said) {
        announced.put(server, said);
        around.addresses().put(server, said.address());
    }

    AnnouncedServers announced() {
        return announced;
    }

    private void serve(Area area, Round present, Members members) {
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
                look(present, members);
                supersede(present);
                saying.goesOn();
            } catch (ConfigurationStoreException e) {
                whyNoStart = startWanted ? e : null;
                saying.waits("the configuration store is away; the data path goes on", ": " + e.getMessage());
                backOff();
            }
        }
    }

    /** Begins a term if one is wanted, so that all servers start anew: each one finds it at its next look. */
    private void supersede(Round present) {
        if (!startWanted) {
            return;
        }
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own != null && stored != null && stored.configuration().term() == own.term()) {
            // Another server's configuration will do as well.
            final boolean unused = nodes.decide(stored.configuration().superseded(), stored.version());
            signal.give();
        }
    }

    /** Ends the round if a server has started anew, or the roles have changed. */
    private void look(Round present, Members members) {
        final Configuration own = present.configuration();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (own == null || stored == null) {
            return; // a store that lost its nodes changes nothing for who has roles
        }
        if (stored.configuration().term() > own.term()) {
            throw new RoundOverException("term " + stored.configuration().term() + " has begun");
        }
        for (int server = 0; server < members.names().size(); server++) {
            final Announcement said = nodes.announcement(members.names().get(server));
            if (said != null) {
                heard(server, said);
                if (said.incarnation() > own.incarnations().get(server)) {
                    throw new RoundOverException("server " + said.name() + " has started anew");
                }
            }
        }
    }

    /** While it agrees with the others: looks now and then whether there is any use in it. */
    private final class Patience implements PeerCalls.Patience {
        private final Round present;
        private final Members members;

        Patience(Round present, Members members) {
            this.present = present;
            this.members = members;
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
                look(present, members);
                sayWhoIsSilent(present, members);
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
        if (closing && phase != Phase.SERVING) {
            throw new ClosedWhileWaiting();
        }
        try {
            // One look for all that it was given for.
            final boolean unused = signal.await(ms * 1_000_000);
        } catch (InterruptedException e) {
            closing = true; // whoever interrupts this thread wants it to end
        }
        requireNotStopped();
        if (closing && phase != Phase.SERVING) {
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

    private void sayWhoIsSilent(Round present, Members members) {
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
