package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.CompositeAgent;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.ControlAgent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.dispatch.ServerAgents;
import org.rowankv.server.dispatch.ServingState;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.opening.OpeningListener;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.CommitAgent;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.request.ObjectReader;
import org.rowankv.server.resync.CopyAgent;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.JoinAgent;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.retention.RetentionWorker;
import org.rowankv.server.retention.ShardScan;
import org.rowankv.server.scrub.PeerReplicas;
import org.rowankv.server.scrub.ReplicaRepair;
import org.rowankv.server.scrub.ScrubAgent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

/**
 * One Rowan-KV server: worker contexts and agents over one area. The threads of callers execute requests, each in an
 * acquired worker context; the agents (control, digest, commit, sweeps, clean) share one thread, or commit has its own
 * (docs/design/cluster.md).
 *
 * <p>Thread-safe. Serves from {@link #start} to {@link #close}.
 */
public final class Server implements AutoCloseable {
    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final Endpoint endpoint;
    private final CurrentRoles roles;
    private final InFlightWindow inFlightWindow;
    private final WorkerPool pool;
    private final ShardScan scan;
    private final LimitedCaches limits;
    private final RetentionWorker retention;
    private final RetentionAgents ending;
    private final CleanAgent cleaner;
    private final CopyAgent copier;
    private final JoinAgent join;
    private final RoleChanges roleChanges;
    private final CommitAgent commit;
    private final ServerStatisticsReader statistics;
    private final OtherReplicas peers = new OtherReplicas();
    private final ServingState serving = new ServingState();
    private final QuiescenceTracker quiescenceTracker;
    private final ServerAgents agents;
    private final SpaceRequests spaceRequests;
    private final RequestDispatch dispatch;
    private final ErrorLog errors;
    private final Clock clock;
    private long deadlineNs = RequestDispatch.DEFAULT_DEADLINE_NS;

    /**
     * @param endpointSettings of this server
     * @param opening returns the endpoint, which may be open already if nothing has landed there; called once
     * @param capabilities of its fabric
     */
    public Server(
            ServerContext parts,
            EndpointSettings endpointSettings,
            Function<EndpointSettings, Endpoint> opening,
            FabricCapabilities capabilities) {
        final Configuration configuration = parts.configuration();
        this.clock = parts.clock();
        this.serverId = endpointSettings.serverId();
        final ServerSettings settings = parts.settings();
        this.segments = parts.segments();
        this.replicas = parts.replicas();
        this.errors = parts.errors();
        this.endpoint = opening.apply(endpointSettings);
        this.roles = new CurrentRoles(new Roles(
                serverId,
                configuration,
                shard -> RoleChanges.primaryOf(
                        replicas.get(shard), configuration.shard(shard).epoch(), parts)));
        this.limits = LimitedCaches.of(roles, segments.space());
        this.inFlightWindow = new InFlightWindow(
                settings.workers() * settings.mutationsPerWorker() + 1,
                configuration.serverCount() == 1
                        ? Long.MAX_VALUE
                        : settings.bytesPerWindow(segments.count(), segments.length(), configuration.serverCount()));
        final ReadCheck check = new ReadCheck(segments);
        final ObjectReader reader = new ObjectReader(segments, clock, errors, check, settings.verifyReads(), limits);
        this.scan = new ShardScan(segments, clock, check, settings.verifyReads());
        final int maxMessage = Math.min(capabilities.maxMessage(), segments.length());
        final ServerLinks links = new ServerLinks(parts, endpoint, roles);
        this.pool = new WorkerContexts(parts, serverId, links, roles, inFlightWindow, limits)
                .pool(workerLinks -> new RowanReplicator(
                        segments.region(), workerLinks, roles, maxMessage, segments.length(), settings.counters()));
        final DigestAgent digest = new DigestAgent(
                endpoint.receiveQueue(), endpointSettings, segments, replicas, clock, settings.holeTimeoutNs());
        final ClearSweepAgent sweep = new ClearSweepAgent(segments, replicas);
        this.retention = new RetentionWorker(pool.agentsOwn(), segments);
        this.ending = RetentionAgents.of(parts, roles, limits, retention, sweep::isDone, this::quietCycles);
        this.cleaner = new CleanAgent(
                segments,
                replicas,
                endpoint.receiveQueue()::isNamed,
                this::retireLogsOlderThan,
                sweep::horizon,
                () -> isSettled() && !digest.awaitsCommit(),
                clock,
                settings.cleanLowWater(),
                settings.cleanHighWater());
        final ScrubAgent scrubber = new ScrubAgent(
                segments,
                new ReplicaRepair(
                        serverId,
                        segments,
                        replicas,
                        peers,
                        errors,
                        segment -> Math.min(sweep.horizon(), segments.tombstoneHorizonWithout(segment))),
                clock,
                settings.scrubBytesPerSecond());
        final BackupConnections commitLinks = links.make().useReserve();
        this.copier = new CopyAgent(
                serverId,
                roles,
                segments,
                links::make,
                inFlightWindow,
                pool::completeAbandoned,
                maxMessage,
                parts.copies(),
                clock,
                settings.copyBytesPerSecond());
        this.join = new JoinAgent(serverId, digest, segments, replicas, roles, parts.copies(), clock, errors);
        this.roleChanges = RoleChanges.of(
                parts,
                roles,
                digest,
                inFlightWindow,
                pool::completeAbandoned,
                links,
                join,
                endpoint,
                maxMessage,
                this::wakeUp);
        // Its share of each limit is another one then.
        roleChanges.openings().report(OpeningListener.whenever(limits::look));
        final List<Agent> ownAgents = new ArrayList<>();
        if (settings.postedAhead() > 0) {
            ownAgents.add(new ControlAgent(endpoint.receiveQueue(), segments, replicas, settings.postedAhead()));
            ownAgents.add(digest);
            ownAgents.add(roleChanges.reclaim());
            ownAgents.add(roleChanges.openings());
            ownAgents.add(join);
            ownAgents.add(copier);
        }
        this.commit = new CommitAgent(roles, inFlightWindow, commitLinks, maxMessage, clock);
        this.quiescenceTracker = new QuiescenceTracker(
                settings.postedAhead() > 0,
                replicas,
                digest,
                roleChanges.openings(),
                sweep,
                cleaner,
                commit,
                copier,
                ending);
        final boolean commitApart = parts.threading() == ThreadingMode.DEDICATED;
        if (!commitApart) {
            ownAgents.add(commit);
        }
        ownAgents.add(new EpochAgent(serverId, roles, parts.epochs(), clock, errors));
        ownAgents.add(sweep);
        ownAgents.addAll(ending.inOrder());
        ownAgents.add(retention);
        ownAgents.add(cleaner);
        ownAgents.add(scrubber);
        ownAgents.add(quiescenceTracker);
        this.agents = new ServerAgents(
                parts.scheduling(),
                errors,
                serving,
                fault -> errors.report("server " + serverId, serving.faulty(fault)));
        agents.add(
                new CompositeAgent("server-" + serverId, ownAgents.toArray(new Agent[0])),
                quiescenceTracker::agentsIdleNs);
        if (commitApart) {
            agents.add(new CompositeAgent("commit-" + serverId, commit), quiescenceTracker::commitIdleNs);
        }
        this.spaceRequests = new SpaceRequests(pool, retention, ending, cleaner, agents, serving);
        this.statistics = new ServerStatisticsReader(
                serverId,
                segments,
                replicas,
                links.all(),
                pool,
                roles,
                digest,
                commit,
                cleaner,
                scrubber,
                ending,
                quiescenceTracker,
                agents);
        if (endpoint.onLanded(agents::endDigestPause)) {
            quiescenceTracker.allowRests();
        }
        this.dispatch = new RequestDispatch(
                serverId,
                roles,
                parts.permit(),
                reader,
                pool,
                agents,
                serving,
                parts.scheduling(),
                clock,
                parts.pressure()::wakeUp);
    }

    /** The servers of this process, from whose replicas damaged entries are repaired. Call before the start. */
    public void meet(List<Server> servers) {
        peers.meet(this, servers);
    }

    /** Sets from where damaged entries are repaired. */
    public void mendFrom(PeerReplicas replicas) {
        peers.use(replicas);
    }

    /** Handler for memory faults; returns the exception for the caller that met the fault. Call before the start. */
    public void whenFaulty(Function<InternalError, RuntimeException> handler) {
        serving.whenFaulty(handler);
    }

    /** How long one request of a waiting caller, and each step of {@link #close}, may wait. Call before the start. */
    public void deadline(long ns) {
        deadlineNs = ns;
        dispatch.deadline(ns);
    }

    /** Starts the agents and serves requests. Every server of the cluster must be constructed before. */
    public void start() {
        agents.start();
        serving.open();
    }

    /** The clock of its agents. A reading of it says nothing beside one of another server's clock. */
    public Clock clock() {
        return clock;
    }

    public int serverId() {
        return serverId;
    }

    /** Rejects new requests with this exception; pending ones may still be answered. */
    public void refuse(RuntimeException why) {
        serving.refuse(why);
    }

    /** Stops service after a failure: every request receives this exception; only {@link #close} remains. */
    public void fail(RuntimeException why) {
        serving.fail(why);
    }

    /** Fences a server off this one's backup log: none of its writes lands after this returns. */
    public void fence(int server) {
        endpoint.receiveQueue().fence(server);
    }

    /** The changes of its roles while it runs. */
    public RoleChanges roleChanges() {
        return roleChanges;
    }

    // --- requests ---

    /** Executes requests for this server's primary shards. */
    public RequestDispatch requests() {
        return dispatch;
    }

    /**
     * As {@link RequestDispatch#stepped}, for many requests of one thread, in its own worker contexts.
     *
     * @param loop number of the thread, from 0
     * @param loops number of such threads
     */
    public MutationPipeline callsOfLoop(int loop, int loops) {
        return new MutationPipeline(dispatch, pool.slotsOfLoop(loop, loops), pool.atOnce());
    }

    private boolean retireLogsOlderThan(long sequence) {
        final boolean ofRetention = retention.retireLogOlderThan(sequence);
        return pool.retireLogsOlderThan(sequence, segments) || ofRetention;
    }

    /**
     * Passes live objects of a cache in a shard to a visitor, from a position; the next position, or 0 at the end.
     *
     * @throws org.rowankv.server.dispatch.NotServedException if the shard is not served here, or not any more after the
     *     read, or if an entry of it is damaged: then what the visitor has received is void
     */
    public long scan(int cacheId, int shard, long position, boolean withValues, ShardScan.Visitor visitor) {
        final ShardPrimary primary = dispatch.beginRead(shard);
        final long next;
        try {
            next = scan.bucket(primary.replica(), cacheId, position, withValues, visitor);
        } catch (NotServedException e) {
            dispatch.endRead(primary); // another primary may have it whole
            throw e;
        } catch (InternalError e) {
            throw serving.faulty(e);
        }
        dispatch.endRead(primary);
        return next;
    }

    /** Whether this server is the primary of a shard. */
    public boolean isPrimary(int shard) {
        return roles.get().find(shard) != null;
    }

    /** Whether requests are served: started, not closed, not failed. */
    public boolean isServing() {
        return serving.isOpen();
    }

    /** Sets, changes or removes the limit of a cache. */
    public void limit(int cacheId, String name, CacheLimit limit) {
        if (limits.limit(cacheId, name, limit)) {
            agents.wakeUp();
        }
    }

    /** Objects evicted or expired by this server's agents since its start. */
    public long endedObjects() {
        return roles.get().evictedObjects() + pool.expiredObjects();
    }

    /** Whether a cache is above its limit, or expired objects are being ended. */
    public boolean isEndingObjects() {
        return ending.areEndingObjects() && !isStopped();
    }

    /** The agents that end objects and sessions. */
    public RetentionAgents retentionAgents() {
        return ending;
    }

    /** The caches with limits, and the counts of every cache in this server's primary shards. */
    public LimitedCaches limits() {
        return limits;
    }

    /** The last version assigned in a local primary shard, else 0. */
    public long lastVersion(int shard) {
        return roles.get().lastVersion(shard);
    }

    /** For such a shard: every change with a version ≤ it is on all replicas and in the change stream. */
    public long finishedVersion(int shard) {
        final long last = lastVersion(shard); // before the slots are read
        return inFlightWindow.finished(shard, last);
    }

    // --- for the cluster ---

    public void wakeUp() {
        agents.wakeUp();
    }

    /** Whether its cleaner is emptying a segment. */
    public boolean isRelocating() {
        return cleaner.isRelocating();
    }

    /** Accelerates CommitVer for a waiting caller. */
    public void hurryCommit() {
        commit.hurry();
        agents.wakeUp();
    }

    /** Whether the agents have no work, and idle between two cycles. */
    public boolean isAtRest() {
        return quiescenceTracker.agentsIdleNs() > 0;
    }

    /** The agents count their cycles and idle waits. Without work they run two cycles between two idle waits. */
    public ServerAgents agents() {
        return agents;
    }

    /** This server's replicas that are catching up: their part of a {@link CopyListener}, their beginnings and ends. */
    public JoinAgent joining() {
        return join;
    }

    private boolean isSettled() {
        return quiescenceTracker.isSettled();
    }

    /** The copies to joining replicas of other servers. */
    public CopyAgent copies() {
        return copier;
    }

    /** For callers that lack space. */
    public SpaceRequests spaceRequests() {
        return spaceRequests;
    }

    /** Cycles of the agents that left no work that frees space. */
    public long quietCycles() {
        return quiescenceTracker.settled();
    }

    /** Cycles of the agents after which all landed entries were digested, and every clear swept. */
    public long digestCycles() {
        return quiescenceTracker.digested();
    }

    /** Whether the server has ended: closed, failed, or stopped by a broken invariant, which is in the error log. */
    public boolean isStopped() {
        return agents.isClosed() || serving.hasFailed();
    }

    public ServerStatistics statistics() {
        return statistics.read();
    }

    /**
     * Stops service, and waits until every mutation ends. The area stays its owner's.
     *
     * <p>Terminates: it waits for abandoned mutations and for the agents' work until this server's deadline, and a
     * little longer for callers; see {@link RequestDispatch#whyInUse}. A restart completes the rest.
     */
    @Override
    public void close() {
        serving.close();
        final WaitLimit limit = new WaitLimit(clock, deadlineNs);
        dispatch.close(() -> isStopped() || limit.isOver());
        ending.close();
        for (long waits = 0; ending.areAtWork() && !isStopped() && !limit.isOver(); waits++) {
            dispatch.rest(waits);
        }
    }

    /** Instead of {@link #close} and later steps, when the memory is lost: ends the agents, leaves the area alone. */
    public void abandon() {
        serving.close();
        agents.close();
    }

    /** Ends the agents. Call after every server is closed and landed entries are digested. */
    public void stopAgents() {
        agents.close();
    }

    /** Closes the logs. Call after the agents of every server are stopped, since they communicate. */
    public void stop() {
        pool.closeLogs();
        endpoint.close();
    }

    public Segments segments() {
        return segments;
    }

    public Replicas replicas() {
        return replicas;
    }
}
