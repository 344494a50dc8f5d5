package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.CompositeAgent;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.ControlAgent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.PrimaryShards;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.dispatch.ServerAgents;
import org.rowankv.server.dispatch.ServingState;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.BackupSets;
import org.rowankv.server.replication.CommitAgent;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.request.ObjectReader;
import org.rowankv.server.request.ReadCheck;
import org.rowankv.server.resync.CopyAgent;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.JoinAgent;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.retention.EvictionAgent;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.retention.RetentionWorker;
import org.rowankv.server.retention.SessionLeaseAgent;
import org.rowankv.server.retention.ShardScan;
import org.rowankv.server.scrub.ReplicaRepair;
import org.rowankv.server.scrub.ScrubAgent;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * One Rowan-KV server: worker contexts and agents over one area. Requests are carried by the threads that bring them,
 * each in a borrowed worker context; the agents (control, digest, commit, sweeps, clean) share one thread, or commit has
 * its own (docs/design/20-threading-modes.md).
 *
 * <p>Thread-safe. Serves from {@link #start} to {@link #close}.
 */
public final class Server implements AutoCloseable {
    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final Endpoint endpoint;
    private final PrimaryShards primaries;
    private final InFlightWindow inFlightWindow;
    private final WorkerPool pool;
    private final ShardScan scan;
    private final LimitedCaches limits;
    private final RetentionWorker retention;
    private final RetentionAgents ending;
    private final CleanAgent cleaner;
    private final CopyAgent copier;
    private final JoinAgent join;
    private final CommitAgent commit;
    private final ServerMetrics meters;
    private final LocalReplicas peers = new LocalReplicas();
    private final ServingState serving = new ServingState();
    private final QuiescenceTracker quiescenceTracker;
    private final ServerAgents agents;
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
        this.primaries = PrimaryShards.of(
                serverId,
                configuration,
                replicas,
                settings.counters(),
                settings.sessionsPerTable(segments.count(), segments.length(), configuration.mostReplicas()));
        final List<ShardPrimary> own = primaries.all();
        this.limits = new LimitedCaches(own.stream().map(ShardPrimary::replica).toList(), configuration.shardCount());
        this.inFlightWindow = new InFlightWindow(
                settings.workers() * settings.mutationsPerWorker() + 1,
                configuration.serverCount() == 1
                        ? Long.MAX_VALUE
                        : settings.bytesPerLap(segments.count(), segments.length(), configuration.serverCount()));
        final ObjectReader reader =
                new ObjectReader(segments, clock, errors, new ReadCheck(segments), settings.verifyReads(), limits);
        this.scan = new ShardScan(segments, clock);
        final BackupSets backupSets = new BackupSets(configuration);
        final int[] epochs =
                configuration.shards().stream().mapToInt(ShardAssignment::epoch).toArray();
        final int maxMessage = Math.min(capabilities.maxMessage(), segments.length());
        final ServerLinks links = new ServerLinks(parts, endpoint);
        this.pool = new WorkerContexts(parts, serverId, links, inFlightWindow, limits)
                .pool(workerLinks -> new RowanReplicator(
                        segments.region(),
                        workerLinks,
                        backupSets,
                        configuration.serverCount(),
                        maxMessage,
                        segments.length(),
                        epochs,
                        settings.counters()));
        final DigestAgent digest = new DigestAgent(
                endpoint.receiveQueue(),
                new LandingCursor(endpointSettings, endpoint.receiveQueue()),
                segments,
                replicas,
                clock,
                settings.holeTimeoutNs());
        final ClearSweepAgent sweep = new ClearSweepAgent(segments, replicas);
        this.retention = new RetentionWorker(pool.agentsOwn(), segments);
        this.ending = new RetentionAgents(
                new ExpirySweepAgent(own, retention, segments, clock),
                new EvictionAgent(own, limits, retention, segments, clock, sweep::isDone, this::quietCycles),
                new SessionLeaseAgent(own, retention, clock, settings.sessionLeaseNs()));
        this.cleaner = new CleanAgent(
                segments,
                replicas,
                endpoint.receiveQueue()::isNamed,
                this::retireLogsOlderThan,
                sweep::isDone,
                () -> isSettled() && !digest.awaitsCommit(),
                clock,
                settings.cleanLowWater(),
                settings.cleanHighWater());
        final ScrubAgent scrubber = new ScrubAgent(
                segments,
                new ReplicaRepair(serverId, segments, replicas, peers::of, errors),
                clock,
                settings.scrubBytesPerSecond());
        final BackupConnections commitLinks = links.make().useReserve();
        final BackupConnections copyLinks = links.make();
        this.copier = new CopyAgent(
                serverId,
                own,
                configuration,
                segments,
                copyLinks,
                maxMessage,
                epochs,
                parts.copies(),
                clock,
                settings.copyBytesPerSecond());
        this.join = new JoinAgent(serverId, digest, segments, replicas, parts.copies(), clock, errors);
        final List<Agent> ownAgents = new ArrayList<>();
        if (settings.postedAhead() > 0) {
            ownAgents.add(new ControlAgent(endpoint.receiveQueue(), segments, replicas, settings.postedAhead()));
            ownAgents.add(digest);
            ownAgents.add(join);
            ownAgents.add(copier);
        }
        this.commit = new CommitAgent(
                own,
                configuration.shardCount(),
                inFlightWindow,
                commitLinks,
                backupSets,
                configuration.serverCount(),
                maxMessage,
                clock);
        this.quiescenceTracker =
                new QuiescenceTracker(settings.postedAhead() > 0, replicas, digest, sweep, cleaner, commit, ending);
        final boolean commitApart = parts.threading() == ThreadingMode.DEDICATED;
        if (!commitApart) {
            ownAgents.add(commit);
        }
        ownAgents.add(new EpochAgent(serverId, own, parts.epochs(), clock, errors));
        ownAgents.add(sweep);
        ownAgents.add(ending.expirySweep());
        ownAgents.add(ending.eviction());
        ownAgents.add(ending.sessionLeases());
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
        this.meters = new ServerMetrics(
                serverId,
                segments,
                replicas,
                links.all(),
                pool,
                primaries,
                digest,
                commit,
                cleaner,
                scrubber,
                ending,
                quiescenceTracker,
                agents);
        if (endpoint.onLanded(agents::rouseDigest)) {
            quiescenceTracker.allowRests();
        }
        this.dispatch = new RequestDispatch(
                serverId, primaries, reader, pool, agents, serving, parts.scheduling(), clock, parts.wakeUp());
    }

    /** Before the start: the servers of the cluster in this process, from whose replicas damaged entries are taken. */
    public void meet(List<Server> servers) {
        peers.meet(this, servers);
    }

    /** Before the start: the handler of memory faults; it returns the exception for the caller that met one. */
    public void whenFaulty(Function<InternalError, RuntimeException> handler) {
        serving.whenFaulty(handler);
    }

    /** Before the start: how long one request of a waiting caller, and each step of {@link #close}, may wait. */
    public void deadline(long ns) {
        deadlineNs = ns;
        dispatch.deadline(ns);
    }

    /** Starts the agents; from now on requests are served. Every server of the cluster was constructed before. */
    public void start() {
        agents.start();
        serving.open();
    }

    public int serverId() {
        return serverId;
    }

    /** Whoever comes from now on gets this exception; who waits already may still be answered. */
    public void refuse(RuntimeException why) {
        serving.refuse(why);
    }

    /**
     * Something broke that promises stand on: nobody is answered any more, who waits or comes gets this exception. Only
     * {@link #close} is left.
     */
    public void fail(RuntimeException why) {
        serving.fail(why);
    }

    /** Cuts a server off this one's backup log: nothing of what it has under way lands after this returns. */
    public void fence(int server) {
        endpoint.receiveQueue().fence(server);
    }

    // --- requests ---

    /** Where a request for a key or shard whose primary this server is gets its answer. */
    public RequestDispatch requests() {
        return dispatch;
    }

    /**
     * As {@link RequestDispatch#stepped}, for many requests of one thread, which go through worker contexts of its own.
     *
     * @param loop number of the thread, from 0
     * @param loops how many such threads there are
     */
    public MutationPipeline callsOfLoop(int loop, int loops) {
        return new MutationPipeline(dispatch, pool.slotsOfLoop(loop, loops), pool.atOnce());
    }

    private boolean retireLogsOlderThan(long sequence) {
        final boolean ofRetention = retention.retireLogOlderThan(sequence);
        return pool.retireLogsOlderThan(sequence, segments) || ofRetention;
    }

    /** Hands the live objects of a cache in a shard to a visitor, from a position; returns the next, or 0 at the end. */
    public long scan(int cacheId, int shard, long position, boolean withValues, ShardScan.Visitor visitor) {
        final ShardPrimary primary = primaries.get(shard);
        if (primary == null) {
            throw new IllegalArgumentException("server " + serverId + " is not the primary of shard " + shard);
        }
        serving.requireNotRefused();
        try {
            return scan.bucket(primary.replica(), cacheId, position, withValues, visitor);
        } catch (InternalError e) {
            throw serving.faulty(e);
        }
    }

    /** Whether this server answers for a shard, as its primary. */
    public boolean isPrimary(int shard) {
        return primaries.find(shard) != null;
    }

    /** Whether requests are served: started, not closed, not failed. */
    public boolean isServing() {
        return serving.isOpen();
    }

    /** Gives a cache a limit, or another one, or none. */
    public void limit(int cacheId, String name, CacheLimit limit) {
        if (limits.limit(cacheId, name, limit)) {
            agents.wakeUp();
        }
    }

    /** Objects that this server has ended since its start without being asked to: evicted, or expired. */
    public long endedObjects() {
        return primaries.evictedObjects() + pool.expiredObjects();
    }

    /** Whether a cache is being brought below its limit, or what has expired is being ended. */
    public boolean isEndingObjects() {
        return ending.areEndingObjects() && !isStopped();
    }

    /** Who ends sessions that nobody uses. */
    public SessionLeaseAgent sessionLeases() {
        return ending.sessionLeases();
    }

    /** Objects of the cache that were evicted by this server since its start. */
    public long evictions(int cacheId) {
        return limits.evictions(cacheId);
    }

    /** The last version given out of a shard whose primary this server is, else 0. */
    public long lastVersion(int shard) {
        return primaries.lastVersion(shard);
    }

    /** Of such a shard: every change with a version ≤ it is on all replicas, and was handed to the change stream. */
    public long finishedVersion(int shard) {
        final long last = lastVersion(shard); // before the slots are read
        return inFlightWindow.finished(shard, last);
    }

    // --- what the cluster around asks ---

    public void wakeUp() {
        agents.wakeUp();
    }

    /** Whether its cleaner is emptying a segment. */
    public boolean isRelocating() {
        return cleaner.isRelocating();
    }

    /** Somebody waits for CommitVer. */
    public void hurryCommit() {
        commit.hurry();
        agents.wakeUp();
    }

    /** Whether the agents have nothing to do, and rest longer than a moment between two turns. */
    public boolean isAtRest() {
        return quiescenceTracker.agentsIdleNs() > 0;
    }

    /** They count their turns and rests. Between two rests they make two turns, if there is nothing to do. */
    public ServerAgents agents() {
        return agents;
    }

    /** The joining replicas' part of what {@link CopyListener} is told. Any thread. */
    public JoinAgent joining() {
        return join;
    }

    /** Entries that were sent to joining replicas of other servers. */
    public long copiedEntries() {
        return copier.entries();
    }

    private boolean isSettled() {
        return quiescenceTracker.isSettled();
    }

    /**
     * Finishes what callers that died have left, and gives back what idle workers have drawn ahead, here and at the backups;
     * false while there is a worker that is not idle. The agents' own worker follows in their next turn.
     */
    public boolean releaseGrants() {
        retention.requestRelease();
        agents.wakeUp();
        return pool.releaseGrants();
    }

    public void requestSpace() {
        cleaner.requestSpace();
        agents.wakeUp();
    }

    /** Ends what has expired, because somebody wants space. */
    public void endExpired() {
        if (ending.expirySweep().want()) {
            agents.wakeUp();
        }
    }

    /** Whether that is not over yet for who wanted it then, by the clock of intervals. */
    public boolean isExpiring(long sinceNs) {
        return ending.expirySweep().isAwaited(sinceNs) && !isStopped();
    }

    /** Turns of the agents that found nothing left to do which gives space back. */
    public long quietCycles() {
        return quiescenceTracker.settled();
    }

    /** Turns of the agents at whose end all that had landed was digested, and every clear swept. */
    public long digestedTurns() {
        return quiescenceTracker.digested();
    }

    /** Whether nothing goes on here: closed, failed, or stopped by a broken invariant, which is in the error log. */
    public boolean isStopped() {
        return agents.isClosed() || serving.hasFailed();
    }

    public ServerStatistics statistics() {
        return meters.read();
    }

    /**
     * Stops serving, and lets every mutation end. The area stays its owner's.
     *
     * <p>Ends: callers give their worker contexts back before their own deadlines; what a caller has left in one, and what agents
     * have begun, is waited for until this server's deadline. A start finishes what is left then.
     */
    @Override
    public void close() {
        serving.close();
        final WaitLimit limit = new WaitLimit(clock, deadlineNs);
        pool.close(dispatch::rest, () -> isStopped() || limit.isOver());
        ending.close();
        for (long waits = 0; ending.areAtWork() && !isStopped() && !limit.isOver(); waits++) {
            dispatch.rest(waits);
        }
    }

    /** Instead of {@link #close} and what follows it, when the memory is lost: ends the agents, and touches nothing. */
    public void abandon() {
        serving.close();
        agents.close();
    }

    /** After every server was closed and what landed is digested: ends the agents. */
    public void stopAgents() {
        agents.close();
    }

    /** After the agents of every server were stopped, since they talk to each other: closes the logs. */
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
