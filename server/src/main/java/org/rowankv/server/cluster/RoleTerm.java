package org.rowankv.server.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.MembershipView;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.server.area.Area;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.log.Segments;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.server.peer.LogReconciliation;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.peer.SpaceReclaimer;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One start of a server, from a new incarnation to the end of its roles. The order: read the area; say so; wait for the
 * configuration that gives roles to this incarnation of every server; agree with the others on what everybody has; begin to
 * serve. Used by the thread of the {@link ClusterServer}.
 */
final class RoleTerm implements MembershipView {
    private static final Logger LOG = LoggerFactory.getLogger(RoleTerm.class);
    private static final long PREPARE_AGAIN_NS = 100_000_000;

    private final ClusterServer cluster;
    private final StoredRoles roles;
    private final ClusterSettings settings;
    private final ClusterContext around;
    private final Area area;
    private final int serverId;
    private final long incarnation;
    private final ServerSettings serverSettings;
    private final PeerMessages messages;
    private final AgentHandle messagesAgent;
    private final SerialExecutor chores;
    private final List<Integer> others = new ArrayList<>();
    private volatile @Nullable Configuration adopted;
    private @Nullable Endpoint endpoint;
    private @Nullable RecoveredServer recovered;
    private @Nullable Server server;
    private ClientEndpoint.@Nullable Opened door;
    /** Null until they were read, or could not be. */
    private volatile @Nullable List<StoredCache> caches;

    private final ChangeFeedHandover earlierChanges;
    private ChangeFeedHandover changeFeedHandover = ChangeFeedHandover.NONE;
    private volatile boolean over;
    /** Of this start; null before it has roles. */
    private @Nullable PeerCalls calls;

    /** @param earlierChanges what the start before this one has kept */
    RoleTerm(ClusterServer cluster, Area area, StoredRoles roles, ChangeFeedHandover earlierChanges) {
        this.earlierChanges = earlierChanges;
        this.cluster = cluster;
        this.roles = roles;
        this.settings = cluster.settings();
        this.around = cluster.surroundings();
        this.area = area;
        this.serverId = area.serverId();
        this.serverSettings = settings.serverSettings(around.tuning());
        for (int other = 0; other < roles.members().names().size(); other++) {
            if (other != serverId) {
                others.add(other);
            }
        }
        this.chores = new SerialExecutor("rowan-chores-" + serverId, around.scheduling(), around.errors());
        this.messages = new PeerMessages(serverId, around.errors(), chores);
        this.messagesAgent = around.scheduling().take(messages, around.errors());
        this.incarnation = area.superblock().startIncarnation();
        Chaos.point("start.incarnation");
    }

    long incarnation() {
        return incarnation;
    }

    @Override
    public long term() {
        final Configuration known = adopted;
        return known == null ? 0 : known.term();
    }

    @Override
    public boolean admits(int remote, long remoteIncarnation, long term) {
        final Configuration known = adopted;
        return known != null
                && term == known.term()
                && remote >= 0
                && remote < known.serverCount()
                && known.incarnations().get(remote) == remoteIncarnation;
    }

    @Override
    public Standing standing(int remote, long remoteIncarnation, long nonce) {
        return others.contains(remote)
                ? roles.announced().standing(remote, remoteIncarnation, nonce)
                : Standing.REFUTED;
    }

    /** Of this start's endpoint, or 0 before it is open. */
    long nonce() {
        final Endpoint opened = endpoint;
        return opened == null ? 0 : opened.nonce();
    }

    /** Reads the area as a member of that configuration, and can be talked to afterwards. */
    void recover(Configuration found) {
        final Segments segments = new Segments(
                area,
                around.random().fork("segments-" + serverId + "-" + incarnation),
                serverSettings.cleanerReserve(),
                serverSettings.spaceLimit(area.segmentCount(), area.segmentLength(), found.mostReplicas()),
                serverSettings.counters());
        final KeyHash keyHash = new KeyHash(found.hashSeed());
        final @Nullable ShardReplica[] replicas = new @Nullable ShardReplica[found.shardCount()];
        for (int shard = 0; shard < replicas.length; shard++) {
            if (found.shard(shard).isReplica(serverId)) {
                replicas[shard] = new ShardReplica(
                        shard,
                        found.shardCount(),
                        keyHash,
                        segments,
                        area.tenures().tenure(shard));
            }
        }
        final RecoveredServer read = new RecoveredServer(
                serverId, segments, new Replicas(replicas), settings.shape().replicas() > 1, around.errors());
        read.scan(around.scanThreads(), around.clock());
        recovered = read;
        final EndpointSettings endpointSettings = ServerContext.endpointSettings(
                serverId, serverSettings, segments, incarnation, found.clusterId(), messages, this);
        final Endpoint opened = around.fabric().open(endpointSettings);
        endpoint = opened;
        opened.onMessages(messagesAgent::wakeUp);
        messages.use(opened);
        messagesAgent.start();
        Chaos.point("start.recovered");
    }

    /**
     * Takes the roles that a configuration gives to this incarnation, once everybody has the same entries.
     *
     * @throws StaleTermException if another start of the cluster has begun meanwhile
     */
    void begin(Configuration configuration, PeerCalls.Patience patience) {
        final RecoveredServer read = recovered;
        final Endpoint opened = endpoint;
        if (read == null || opened == null) {
            throw new AssertionError("nothing was read");
        }
        requireReplicas(configuration, read);
        chores.execute(this::listCaches);
        final long beganNs = around.clock().nanoTime();
        area.superblock().adoptTerm(configuration.term());
        area.superblock().acceptIncomplete();
        final PeerCalls calls = new PeerCalls(opened, configuration.term(), around.scheduling());
        this.calls = calls;
        final LogReconciliation exchange = new LogReconciliation(configuration, read);
        adopted = configuration;
        messages.adopt(configuration, calls, exchange);
        exchange.compare(calls, patience);
        calls.askAll(others, PeerRequestType.COMPARED, 0, patience);
        cluster.await(() -> messages.compared().containsAll(others), patience);
        final long copies = exchange.scatter(calls, patience);
        Chaos.point("start.scattered");
        calls.askAll(others, PeerRequestType.COLLECTED, 0, patience);
        cluster.await(() -> messages.collected().containsAll(others), patience);
        // From here on nobody sends anything to take over: everybody has everything.
        read.drain();
        read.finish();
        Chaos.point("start.term");
        calls.askAll(others, PeerRequestType.READY, 0, patience);
        cluster.await(() -> messages.ready().containsAll(others), patience);
        Chaos.point("start.ready");
        cluster.await(() -> caches != null, patience);
        serve(configuration, calls, read, opened);
        LOG.info(
                "server {} ({}) serves in term {} as start {}, agents {}: {} entries read{}, {} copied between servers, {} ms",
                settings.name(),
                serverId,
                configuration.term(),
                incarnation,
                settings.threading().name().toLowerCase(Locale.ROOT),
                read.entries(),
                read.tornEntries() == 0 ? "" : ", " + read.tornEntries() + " torn and dropped",
                copies,
                (around.clock().nanoTime() - beganNs) / 1_000_000);
    }

    /**
     * Which caches there are, read while the servers exchange entries: clients of these are served also if the store is away
     * afterwards. Without an answer of the store there are none; the port then asks for each.
     */
    private void listCaches() {
        List<StoredCache> found = List.of();
        try {
            found = CatalogueStore.list(around.store());
        } catch (ConfigurationStoreException e) {
            around.errors().reportExpected("the caches that there are", e);
        } catch (RuntimeException e) {
            around.errors().report("the caches that there are", e);
        } finally {
            caches = found;
        }
    }

    /** Servers from which an answer is missing: to a question, else to what all say of themselves. */
    Set<Integer> silent() {
        final PeerCalls asking = calls;
        final Set<Integer> silent = asking == null ? new TreeSet<>() : asking.unanswered();
        for (Set<Integer> heard : List.of(messages.compared(), messages.collected(), messages.ready())) {
            if (silent.isEmpty()) {
                silent.addAll(others);
                silent.removeAll(heard);
            }
        }
        return silent;
    }

    /** Why that server could not be reached when it was last tried; empty if it could. */
    String lastRefusal(int server) {
        final Endpoint opened = endpoint;
        return opened == null ? "" : opened.lastRefusal(server);
    }

    private static void requireReplicas(Configuration configuration, RecoveredServer read) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            if (configuration.shard(shard).isReplica(read.serverId())
                    != read.replicas().has(shard)) {
                throw new StaleTermException("shard " + shard + " has other replicas now");
            }
        }
    }

    private void serve(Configuration configuration, PeerCalls calls, RecoveredServer read, Endpoint opened) {
        final LazyServer late = new LazyServer();
        final List<IoPoller> ios = around.door().ios();
        area.whenForced(() -> ios.forEach(IoPoller::wakeUp));
        final ServerContext parts = new ServerContext(
                serverSettings,
                read.segments(),
                read.replicas(),
                configuration,
                around.clock(),
                around.scheduling(),
                settings.threading(),
                around.errors(),
                late,
                late,
                new NoCopies(),
                cluster::askForStart,
                ios);
        final EndpointSettings endpointSettings = ServerContext.endpointSettings(
                serverId, serverSettings, read.segments(), incarnation, configuration.clusterId(), messages, this);
        final Server made = new Server(
                parts, endpointSettings, unused -> opened, around.fabric().capabilities());
        final SpaceReclaimer pressure = new SpaceReclaimer(
                made,
                configuration.serverCount(),
                others,
                calls,
                messages::answer,
                around.clock(),
                messagesAgent::wakeUp);
        late.is(pressure);
        server = made;
        earlierChanges.continueIn(configuration, serverId, read.replicas());
        made.start();
        final ClusterCatalogue catalogue = new ClusterCatalogue(
                around.store(),
                settings.name() + "-" + incarnation,
                around.random().fork("catalogue-" + incarnation),
                Objects.requireNonNull(caches),
                made,
                configuration.shardCount(),
                others,
                calls,
                () -> {
                    if (over) {
                        throw new StaleTermException("the server has no roles any more");
                    }
                });
        messages.serve(pressure, catalogue);
        recovered = null;
        // Not before every server answers: what a crash left half destroyed needs all of them.
        chores.execute(() -> prepare(catalogue));
        door = around.door().open(made, new Routing(configuration, roles.clientAddresses()), catalogue);
    }

    /** Until it succeeds: no other event gives this server the limits, or ends what is half destroyed. */
    private void prepare(ClusterCatalogue catalogue) {
        try {
            if (serverId == 0) {
                catalogue.resume();
            }
            catalogue.applyLimits();
            return;
        } catch (StaleTermException e) {
            LOG.debug("the limits of the caches are left to the next start", e);
            return;
        } catch (ConfigurationStoreException e) {
            around.errors().reportExpected("the limits of the caches", e);
        } catch (RuntimeException e) {
            around.errors().report("the limits of the caches", e);
        }
        around.scheduling().park(PREPARE_AGAIN_NS);
        chores.execute(() -> prepare(catalogue)); // behind those that other servers wait for
    }

    @Nullable
    Server server() {
        return server;
    }

    @Nullable
    Configuration configuration() {
        return adopted;
    }

    /** Ends the roles at once: what is under way is left as it is, for the next start to find. */
    void abandon(String why) {
        over = true;
        final ClientEndpoint.Opened opened = door;
        door = null;
        if (opened != null) {
            opened.pause();
        }
        final Server made = server;
        if (made != null) {
            made.fail(new IllegalStateException(why));
            made.stopAgents();
            made.close();
            final Configuration served = adopted;
            if (served != null) {
                changeFeedHandover = ChangeFeedHandover.of(made, served);
            }
        }
        end();
    }

    /** After {@link #abandon}: what the next start may go on with. */
    ChangeFeedHandover changeFeedHandover() {
        return changeFeedHandover;
    }

    /** Lets operations under way end, for so long, and what has landed be digested; then ends the roles. */
    void drain(long forMs) {
        closeDoor();
        final Server made = server;
        if (made != null) {
            final RunningTask closing = around.scheduling().begin("rowan-drain-" + serverId, false, made::close);
            if (!cluster.awaitFor(closing::isOver, forMs)) {
                LOG.warn("server {}: operations under way did not end within {} ms", settings.name(), forMs);
            }
            final long digested = made.digestedTurns() + 2;
            final boolean quiet = cluster.awaitFor(
                    () -> {
                        made.wakeUp();
                        return made.digestedTurns() >= digested;
                    },
                    forMs);
            LOG.debug("server {}: all that landed is digested: {}", settings.name(), quiet);
            over = true;
            made.fail(new IllegalStateException("the server is stopping"));
            made.stopAgents();
            closing.join();
        }
        over = true;
        end();
    }

    private void closeDoor() {
        final ClientEndpoint.Opened opened = door;
        door = null;
        if (opened != null) {
            opened.close();
        }
    }

    private void end() {
        chores.end();
        messagesAgent.close();
        final Server made = server;
        if (made != null) {
            made.stop();
        } else if (endpoint != null) {
            endpoint.close();
        }
        chores.awaitEnd();
    }

    /** Nobody joins a cluster of this version. */
    private static final class NoCopies implements CopyListener {
        @Override
        public void announced(int shard, int joining, long bytes) {
            throw new AssertionError("server " + joining + " is joining");
        }

        @Override
        public void copied(int shard, int joining, long unused) {
            throw new AssertionError("server " + joining + " is joining");
        }

        @Override
        public boolean joined(int joining) {
            throw new AssertionError("server " + joining + " is joining");
        }
    }
}
