package org.rowankv.server.cluster;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.MembershipView;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.server.area.Area;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.checkpoint.ServerCheckpoints;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.log.Segments;
import org.rowankv.server.manager.Departures;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.peer.ReconciliationMessages;
import org.rowankv.server.peer.SpaceReclaimer;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;
import org.rowankv.topology.Routing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One term of a server's roles, from a new incarnation to the end of its roles. Steps: read the area; register; wait
 * for the configuration that assigns roles to this incarnation of every server; reconcile the logs; serve. Used by the
 * thread of the {@link ClusterServer}.
 */
final class RoleTerm implements MembershipView {
    private static final Logger LOG = LoggerFactory.getLogger(RoleTerm.class);

    private final ClusterServer cluster;
    private final StoredRoles roles;
    private final ClusterSettings settings;
    private final ClusterContext context;
    private final Area area;
    private final int serverId;
    private final long incarnation;
    private final ServerSettings serverSettings;
    private final PeerMessages messages;
    private final AgentHandle messagesAgent;
    private final SerialExecutor deferred;
    private final CatalogueStart catalogueStart;
    private volatile @Nullable Configuration adopted;
    private @Nullable Endpoint endpoint;
    private @Nullable RecoveredServer recovered;
    private @Nullable ServerCheckpoints checkpoints;
    private @Nullable Server server;
    private ClientEndpoint.@Nullable Opened clientEndpoint;
    private final ChangeFeedHandover earlierChanges;
    private ChangeFeedHandover changeFeedHandover = ChangeFeedHandover.NONE;
    private volatile boolean over;
    private long beganWaitingNs;
    /** Not before that this server reports readiness, if it opens later. */
    private long opensNs;

    private boolean opensLater;
    private @Nullable ManagedRoles managed;
    /** Of this term; null before it has roles. */
    private @Nullable PeerCalls calls;

    /** @param earlierChanges change streams of the previous term */
    RoleTerm(ClusterServer cluster, Area area, StoredRoles roles, ChangeFeedHandover earlierChanges) {
        this.earlierChanges = earlierChanges;
        this.cluster = cluster;
        this.roles = roles;
        this.settings = cluster.settings();
        this.context = cluster.context();
        this.area = area;
        this.serverId = area.serverId();
        this.serverSettings = settings.serverSettings(context.tuning());
        this.deferred = new SerialExecutor("rowan-deferred-" + serverId, context.scheduling(), context.errors());
        this.catalogueStart = new CatalogueStart(serverId, context, deferred);
        this.messages = new PeerMessages(serverId, context.errors(), deferred);
        this.messagesAgent = context.scheduling().take(messages, context.errors());
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
    public long startTerm() {
        final Configuration known = adopted;
        return known == null ? 0 : known.startTerm();
    }

    @Override
    public boolean admits(int remote, long remoteIncarnation, long term) {
        final Configuration known = adopted;
        return known != null && known.admits(remote, remoteIncarnation, term);
    }

    @Override
    public Standing standing(int remote, long remoteIncarnation, long nonce) {
        return remote != serverId
                        && remote >= 0
                        && remote < roles.members().names().size()
                ? roles.announced().standing(remote, remoteIncarnation, nonce)
                : Standing.REFUTED;
    }

    /** Nonce of this term's endpoint, or 0 before it is open. */
    long nonce() {
        final Endpoint opened = endpoint;
        return opened == null ? 0 : opened.nonce();
    }

    /** Reads the area according to that configuration, and opens the endpoint. */
    void recover(Configuration found) {
        final Segments segments = new Segments(
                area,
                context.random().fork("segments-" + serverId + "-" + incarnation),
                serverSettings.cleanerReserve(),
                serverSettings.spaceLimit(area.segmentCount(), area.segmentLength(), found.mostReplicas()),
                serverSettings.counters());
        final RecoveredServer read = new RecoveredServer(
                serverId,
                segments,
                AssignedReplicas.complete(found, segments),
                settings.shape().replicas() > 1,
                settings.shape().leasedSegments() > 0,
                context.errors());
        final ServerCheckpoints own = context.checkpointsOf(read, found.hashSeed(), settings.checkpointIntervalMs());
        checkpoints = own;
        own.read(loader -> read.scan(context.scanThreads(), context.clock(), loader));
        recovered = read;
        final EndpointSettings endpointSettings = ServerContext.endpointSettings(
                serverId, serverSettings, segments, incarnation, found.clusterId(), messages, this);
        final Endpoint opened = context.fabric().open(endpointSettings);
        endpoint = opened;
        opened.onMessages(messagesAgent::wakeUp);
        messages.use(opened);
        messagesAgent.start();
        beganWaitingNs = context.clock().nanoTime();
        Chaos.point("start.recovered");
    }

    /** What the server has of replicas that do not count: found while it waits for roles, or with a copy under way. */
    List<FormerReplica> former() {
        final RecoveredServer read = recovered;
        final Server made = server;
        return made != null ? made.joining().present() : read == null ? List.of() : read.former();
    }

    CheckpointStatistics checkpoints() {
        return Objects.requireNonNull(checkpoints).statistics();
    }

    /** When it had read its area, and began to wait for roles. */
    long beganWaitingNs() {
        return beganWaitingNs;
    }

    /** It has stored a common start without those servers, whose processes may still hold leases. */
    void startWithout(Set<Integer> servers) {
        LOG.warn(
                "ROWAN-2018 Common start without servers {}: they are away, and others have complete replicas",
                servers.stream().map(roles.members().names()::get).toList());
        opensNs = context.clock().nanoTime() + settings.leaseTimes().twoLeasesNs();
        opensLater = true;
    }

    /**
     * Assumes the roles that a configuration assigns to this incarnation, once all servers have the same entries.
     *
     * @throws StaleTermException if another start of the cluster has begun meanwhile
     */
    void begin(Configuration configuration, PeerCalls.Patience patience) {
        final RecoveredServer read = Objects.requireNonNull(recovered, "the area was not read");
        final Endpoint opened = Objects.requireNonNull(endpoint);
        final PeerCalls calling = new PeerCalls(opened, this::term, context.scheduling());
        calls = calling;
        catalogueStart.list();
        final long beganNs = context.clock().nanoTime();
        final long copies = configuration.startTerm() == configuration.term()
                ? startTogether(configuration, read, calling, patience)
                : join(configuration, read, calling, patience);
        cluster.await(catalogueStart::isListed, patience);
        serve(configuration, read, opened);
        LOG.info(
                "Server open name={} id={} term={} start={} agents={} read={} torn={} copied={} ms={}",
                settings.name(),
                serverId,
                configuration.term(),
                incarnation,
                settings.threading().name().toLowerCase(Locale.ROOT),
                read.entries(),
                read.tornEntries(),
                copies,
                (context.clock().nanoTime() - beganNs) / 1_000_000);
    }

    /** Reconciles the logs with all other members; returns the number of entries copied. */
    private long startTogether(
            Configuration configuration, RecoveredServer read, PeerCalls calling, PeerCalls.Patience patience) {
        AssignedReplicas.requireComplete(configuration, read);
        AssignedReplicas.beginTenures(configuration, area);
        area.superblock().adoptTerm(configuration.term());
        area.superblock().acceptIncomplete();
        if (read.replicas().all().isEmpty()) {
            read.keepFormer(); // it receives copies
        } else {
            read.settle();
        }
        final List<Integer> others = configuration.members().stream()
                .filter(member -> member != serverId)
                .toList();
        final ReconciliationMessages reconciling = new ReconciliationMessages(configuration, read, calling, patience);
        adopted = configuration;
        messages.adopt(configuration, calling, reconciling);
        beginManaged(configuration, calling);
        reconciling.reconciliation().compare();
        calling.askAll(() -> others, PeerRequestType.COMPARED, 0, patience);
        cluster.await(() -> messages.compared().containsAll(others), patience);
        final long copies = reconciling.reconciliation().scatter();
        Chaos.point("start.scattered");
        calling.askAll(() -> others, PeerRequestType.COLLECTED, 0, patience);
        cluster.await(() -> messages.collected().containsAll(others), patience);
        // All servers are complete: none sends further entries.
        read.finish();
        Chaos.point("start.term");
        cluster.await(() -> !opensLater || context.clock().nanoTime() - opensNs >= 0, patience);
        calling.askAll(() -> others, PeerRequestType.READY, 0, patience);
        cluster.await(() -> messages.ready().containsAll(others), patience);
        Chaos.point("start.ready");
        return copies;
    }

    /** Takes joining replicas, empty ones, while the other members serve, and keeps what it had; returns 0. */
    private long join(
            Configuration configuration, RecoveredServer read, PeerCalls calling, PeerCalls.Patience patience) {
        patience.check();
        Objects.requireNonNull(checkpoints).discard(read.replicas());
        read.keepFormer();
        AssignedReplicas.beginTenures(configuration, area);
        area.superblock().adoptTerm(configuration.term());
        area.superblock().acceptIncomplete();
        adopted = configuration;
        messages.join(configuration, calling);
        beginManaged(configuration, calling);
        Chaos.point("start.joining");
        return 0;
    }

    private void beginManaged(Configuration configuration, PeerCalls calling) {
        managed = new ManagedRoles(
                context,
                settings,
                roles,
                incarnation,
                messages,
                calling,
                cluster.patienceWhileOpen(),
                configuration,
                server -> !lastRefusal(server).isEmpty(),
                cluster::alarm,
                cluster.leaseMargins());
    }

    /** Servers with a missing answer: to a call, else to a step of the start. */
    Set<Integer> silent() {
        final PeerCalls asking = calls;
        final Configuration present = adopted;
        final Set<Integer> silent = asking == null ? new TreeSet<>() : asking.unanswered();
        return silent.isEmpty() && present != null ? messages.unheard(present) : silent;
    }

    /** Why that server could not be reached at the last attempt; empty if it could. */
    String lastRefusal(int server) {
        final Endpoint opened = endpoint;
        return opened == null ? "" : opened.lastRefusal(server);
    }

    private void serve(Configuration configuration, RecoveredServer read, Endpoint opened) {
        final ManagedRoles following = Objects.requireNonNull(managed);
        final PeerCalls calling = Objects.requireNonNull(calls);
        final Replicas replicas = AssignedReplicas.of(configuration, read);
        final SpaceReclaimer pressure = new SpaceReclaimer(
                configuration.serverCount(),
                following::others,
                calling,
                messages::answer,
                context.clock(),
                messagesAgent::wakeUp);
        final List<IoPoller> ios = context.door().ios();
        area.whenForced(() -> ios.forEach(IoPoller::wakeUp));
        final ServerContext parts = new ServerContext(
                serverSettings,
                read.segments(),
                replicas,
                configuration,
                context.clock(),
                context.scheduling(),
                settings.threading(),
                context.errors(),
                pressure,
                following.copies(),
                following::renew,
                following.leases()::mayAnswer,
                ios);
        final EndpointSettings endpointSettings = ServerContext.endpointSettings(
                serverId, serverSettings, read.segments(), incarnation, configuration.clusterId(), messages, this);
        final Server made = new Server(
                parts, endpointSettings, unused -> opened, context.fabric().capabilities());
        pressure.use(made);
        server = made;
        earlierChanges.continueIn(configuration, serverId, replicas);
        made.start();
        Objects.requireNonNull(checkpoints)
                .start(replicas, made::lastVersion, context.clock(), context.scheduling(), context.errors());
        final ClusterCatalogue catalogue = new ClusterCatalogue(
                context.store(),
                settings.name() + "-" + incarnation,
                context.random().fork("catalogue-" + incarnation),
                catalogueStart.caches(),
                made,
                configuration.shardCount(),
                following::others,
                context.scheduling(),
                calling,
                () -> {
                    if (over) {
                        throw new StaleTermException("the server has lost its roles");
                    }
                });
        messages.serve(pressure, catalogue);
        recovered = null;
        catalogueStart.prepare(catalogue);
        final ClientEndpoint.Opened forClients =
                context.door().open(made, new Routing(configuration, roles.clientAddresses()), catalogue);
        clientEndpoint = forClients;
        following.follow(
                area,
                made,
                cluster.nodes(),
                this::follow,
                inForce -> forClients.route(new Routing(inForce, roles.clientAddresses())));
    }

    /** From now on the members of that configuration are connected, and no others. */
    private void follow(Configuration prepared) {
        adopted = prepared;
        messages.follow(prepared);
    }

    /** Reads what the manager is asked for in the store. */
    void readRequests() {
        final ManagedRoles following = managed;
        if (following != null) {
            following.readRequests();
        }
    }

    /** Performs what is due as a candidate or as the manager. */
    void manage() {
        final ManagedRoles following = managed;
        if (following != null) {
            following.step();
        }
    }

    /** Asks the manager to give this server's roles to others. */
    Departures.Answer leave() {
        final ManagedRoles following = managed;
        return following == null ? Departures.Answer.REFUSED : following.leave();
    }

    /** What the manager waits for; empty if nothing. */
    String managerSays() {
        final ManagedRoles following = managed;
        return following == null ? "" : following.saying();
    }

    @Nullable
    Server server() {
        return server;
    }

    @Nullable
    Configuration configuration() {
        return adopted;
    }

    @Nullable
    Configuration inForce() {
        final ManagedRoles following = managed;
        return following == null ? null : following.committed();
    }

    boolean mayAnswer() {
        final ManagedRoles following = managed;
        return following != null && following.leases().mayAnswer();
    }

    /** Ends the roles at once: pending work stays as it is, for the next start to recover. */
    void abandon(String why) {
        over = true;
        endClientEndpoint(ClientEndpoint.Opened::pause);
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

    /** Change streams for the next term. Call after {@link #abandon}. */
    ChangeFeedHandover changeFeedHandover() {
        return changeFeedHandover;
    }

    /** Waits that long for pending operations, and for the digest of landed entries; then ends the roles. */
    void drain(long forMs) {
        endClientEndpoint(ClientEndpoint.Opened::close);
        final Server made = server;
        if (made != null) {
            final RunningTask closing = context.scheduling().begin("rowan-drain-" + serverId, false, made::close);
            if (!cluster.awaitFor(closing::isOver, forMs)) {
                LOG.warn("ROWAN-2016 drain timed out: server={} drainMs={}", settings.name(), forMs);
            }
            final long digested = made.digestCycles() + 2;
            final boolean quiet = cluster.awaitFor(
                    () -> {
                        made.wakeUp();
                        return made.digestCycles() >= digested;
                    },
                    forMs);
            LOG.debug("drained: server={} digested={}", settings.name(), quiet);
            over = true;
            made.fail(new IllegalStateException("the server is stopping"));
            made.stopAgents();
            closing.join();
        }
        over = true;
        end();
    }

    private void endClientEndpoint(Consumer<ClientEndpoint.Opened> how) {
        final ClientEndpoint.Opened opened = clientEndpoint;
        clientEndpoint = null;
        if (opened != null) {
            how.accept(opened);
        }
    }

    private void end() {
        final ServerCheckpoints taking = checkpoints;
        if (taking != null) {
            taking.stop();
        }
        final ManagedRoles following = managed;
        if (following != null) {
            following.end();
        }
        deferred.end();
        messagesAgent.close();
        final Server made = server;
        if (made != null) {
            made.stop();
            final IllegalStateException inUse = made.requests().whyInUse();
            if (inUse != null) {
                cluster.stopServing(inUse);
            }
        } else if (endpoint != null) {
            endpoint.close();
        }
        deferred.awaitEnd();
    }
}
