package org.rowankv.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.placement.ShardAssignment;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MessageHandler;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Agent;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CompositeAgent;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.Scheduling;
import org.rowankv.runtime.StackProbe;
import org.rowankv.runtime.ThreadingMode;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.CommitAgent;
import org.rowankv.server.digest.ControlAgent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.LostAreaException;
import org.rowankv.server.reconfiguration.CopyAgent;
import org.rowankv.server.reconfiguration.CopyListener;
import org.rowankv.server.reconfiguration.JoinAgent;
import org.rowankv.server.replication.BackupSets;
import org.rowankv.server.replication.Links;
import org.rowankv.server.replication.RowanReplicator;
import org.rowankv.server.request.InFlight;
import org.rowankv.server.request.ObjectReader;
import org.rowankv.server.request.ReadCheck;
import org.rowankv.server.request.ShardPrimary;
import org.rowankv.server.request.Worker;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.retention.EvictionAgent;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.retention.RetentionWorker;
import org.rowankv.server.retention.SessionLeaseAgent;
import org.rowankv.server.retention.ShardScan;
import org.rowankv.server.scrub.Mending;
import org.rowankv.server.scrub.PeerReplica;
import org.rowankv.server.scrub.ScrubAgent;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.Replicas;

/**
 * One Rowan-KV server: worker contexts and agents over one area. Requests are carried by the threads that bring them,
 * each in a borrowed worker context; the agents (control, digest, commit, sweeps, clean) share one thread, or commit has
 * its own (docs/design/20-threading-modes.md).
 *
 * <p>Thread-safe. Serves from {@link #start} to {@link #close}.
 */
public final class Server implements AutoCloseable {
    static final int CLOSED_SLOT = -2;

    private static final int SPINS = 32;
    private static final int YIELDS = 256;
    private static final long PARK_NS = 50_000;
    /** Between two turns of agents that have nothing to do, where whatever they would do is told to them. */
    private static final long REST_NS = 250_000_000;
    /** Frames, more than a mutation ever needs: it must not be cut short by the end of its caller's stack. */
    private static final int PROBE_DEPTH = 12;

    private final int serverId;
    private final ServerSettings settings;
    private final Segments segments;
    private final Replicas replicas;
    private final Endpoint endpoint;
    private final @Nullable ShardPrimary[] primaries;
    private final InFlight inFlight;
    private final WorkerPool pool;
    private final List<Links> links = new ArrayList<>();
    private final ObjectReader reader;
    private final ShardScan scan;
    private final DigestAgent digest;
    private final ClearSweepAgent sweep;
    private final LimitedCaches limits;
    private final RetentionWorker retention;
    private final ExpirySweepAgent expirySweep;
    private final EvictionAgent eviction;
    private final SessionLeaseAgent sessionLeases;
    private final CleanAgent cleaner;
    private final CopyAgent copier;
    private final JoinAgent join;
    private final ScrubAgent scrubber;
    private final CommitAgent commit;
    private final ServerMeters meters;
    /** The other replicas of each shard, once {@link #meet met}. */
    private List<List<PeerReplica>> peers = List.of();

    private final ServerAgents agents;
    private final Scheduling scheduling;
    private final ErrorLog errors;
    private final IntConsumer wakeUp;
    private final OwnedCounter settledTurns = new OwnedCounter();
    private final OwnedCounter digestedTurns = new OwnedCounter();
    /** Whether the fabric says when something has landed; else the agents have to look. */
    private final boolean mayRest;
    /** How long the agents may rest, if there is nothing to do. */
    private volatile long restNs;

    private volatile boolean open;
    /** What whoever comes is told instead of an answer. */
    private volatile @Nullable RuntimeException refusal;
    /** Why it serves nobody any more, not even those who wait already. */
    private volatile @Nullable RuntimeException failure;
    /** Told of faults of the memory; returns what whoever met one gets. */
    private Function<InternalError, RuntimeException> whenFaulty =
            fault -> new IllegalStateException("a fault of the memory", fault);

    /** What a server's endpoint is opened with. */
    public static EndpointSettings endpointSettings(
            int serverId,
            ServerSettings settings,
            Segments segments,
            long incarnation,
            long clusterId,
            MessageHandler messages,
            MembershipView view) {
        return new EndpointSettings(
                serverId,
                incarnation,
                clusterId,
                segments.region(),
                segments.length(),
                segments.area().segmentBase(),
                Math.max(2, 2 * settings.postedAhead()),
                segments.space(),
                messages,
                view,
                segments.area().landingForce());
    }

    /**
     * @param endpointSettings of this server
     * @param opening returns the endpoint, which may be open already if nothing has landed there; called once
     * @param capabilities of its fabric
     */
    public Server(
            ServerParts parts,
            EndpointSettings endpointSettings,
            Function<EndpointSettings, Endpoint> opening,
            FabricCapabilities capabilities) {
        final Configuration configuration = parts.configuration();
        final Clock clock = parts.clock();
        this.serverId = endpointSettings.serverId();
        this.settings = parts.settings();
        this.segments = parts.segments();
        this.replicas = parts.replicas();
        this.wakeUp = parts.wakeUp();
        this.scheduling = parts.scheduling();
        this.errors = parts.errors();
        this.endpoint = opening.apply(endpointSettings);
        this.primaries = primariesOf(configuration);
        final List<ShardPrimary> own = new ArrayList<>();
        for (ShardPrimary primary : primaries) {
            if (primary != null) {
                own.add(primary);
            }
        }
        this.limits = new LimitedCaches(own.stream().map(ShardPrimary::replica).toList(), configuration.shardCount());
        this.inFlight = new InFlight(
                settings.workers() + 1,
                configuration.serverCount() == 1
                        ? Long.MAX_VALUE
                        : settings.bytesPerLap(segments.count(), segments.length(), configuration.serverCount()));
        this.pool = new WorkerPool(settings.workers());
        this.reader =
                new ObjectReader(segments, clock, errors, new ReadCheck(segments), settings.verifyReads(), limits);
        this.scan = new ShardScan(segments, clock);
        final BackupSets backupSets = new BackupSets(configuration);
        final int[] epochs = epochsOf(configuration);
        final int maxMessage = Math.min(capabilities.maxMessage(), segments.length());
        for (int slot = 0; slot <= settings.workers(); slot++) {
            final Links workerLinks = new Links(endpoint, configuration, clock, errors, wakeUp);
            links.add(workerLinks);
            final RowanReplicator replicator = new RowanReplicator(
                    segments.region(),
                    workerLinks,
                    backupSets,
                    configuration.serverCount(),
                    maxMessage,
                    segments.length(),
                    epochs);
            pool.add(new Worker(slot, serverId, segments, replicator, inFlight, parts.pressure(), clock, limits));
        }
        this.digest = new DigestAgent(
                endpoint.receiveQueue(),
                new LandingCursor(endpointSettings, endpoint.receiveQueue()),
                segments,
                replicas,
                clock,
                errors,
                settings.holeTimeoutNs());
        this.sweep = new ClearSweepAgent(segments, replicas);
        this.retention = new RetentionWorker(pool.agentsOwn(), segments);
        this.expirySweep = new ExpirySweepAgent(own, retention, segments, clock);
        this.eviction = new EvictionAgent(own, limits, retention, segments, clock, sweep::isDone);
        this.sessionLeases = new SessionLeaseAgent(own, retention, clock, settings.sessionLeaseNs());
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
        this.scrubber = new ScrubAgent(
                segments,
                new Mending(serverId, segments, replicas, this::peersOf, errors),
                clock,
                settings.scrubBytesPerSecond());
        final Links commitLinks = new Links(endpoint, configuration, clock, errors, wakeUp).useReserve();
        links.add(commitLinks);
        final Links copyLinks = new Links(endpoint, configuration, clock, errors, wakeUp);
        links.add(copyLinks);
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
        this.join = new JoinAgent(serverId, digest, segments, replicas, parts.copies(), clock);
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
                inFlight,
                commitLinks,
                backupSets,
                configuration.serverCount(),
                maxMessage,
                clock);
        this.meters = new ServerMeters(segments, replicas, List.copyOf(links), pool, digest, commit, cleaner, scrubber);
        final boolean commitApart = parts.threading() == ThreadingMode.DEDICATED;
        if (!commitApart) {
            ownAgents.add(commit);
        }
        ownAgents.add(sweep);
        ownAgents.add(expirySweep);
        ownAgents.add(eviction);
        ownAgents.add(sessionLeases);
        ownAgents.add(retention);
        ownAgents.add(cleaner);
        ownAgents.add(scrubber);
        ownAgents.add(new SettledTurns());
        final List<Agent> sideBySide = new ArrayList<>();
        sideBySide.add(
                guarded(new CompositeAgent("server-" + serverId, ownAgents.toArray(new Agent[0])), () -> restNs));
        if (commitApart) {
            sideBySide.add(guarded(new CompositeAgent("commit-" + serverId, commit), this::commitRestNs));
        }
        this.agents = new ServerAgents(scheduling, errors, sideBySide);
        this.mayRest = endpoint.onLanded(agents::rouseDigest);
    }

    private Agent guarded(Agent some, LongSupplier rest) {
        return new FaultAgent(some, rest, this::isLost, this::reportFault);
    }

    /** How long the commit agent may rest, on a thread of its own. */
    private long commitRestNs() {
        return mayRest && commit.isQuiet() ? REST_NS : 0;
    }

    private @Nullable ShardPrimary[] primariesOf(Configuration configuration) {
        final @Nullable ShardPrimary[] own = new @Nullable ShardPrimary[configuration.shardCount()];
        for (int shard = 0; shard < own.length; shard++) {
            if (configuration.shard(shard).primary() == serverId) {
                own[shard] = new ShardPrimary(
                        replicas.get(shard),
                        new VersionCounter(configuration.shard(shard).epoch()));
            }
        }
        return own;
    }

    private static int[] epochsOf(Configuration configuration) {
        return configuration.shards().stream().mapToInt(ShardAssignment::epoch).toArray();
    }

    /** Before the start: the servers of the cluster in this process, from whose replicas damaged entries are taken. */
    public void meet(List<Server> servers) {
        final List<List<PeerReplica>> ofShards = new ArrayList<>();
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            final List<PeerReplica> others = new ArrayList<>();
            for (Server other : servers) {
                if (other != this && other.replicas.has(shard)) {
                    others.add(new PeerReplica(
                            other.segments,
                            other.replicas.get(shard),
                            () -> other.isStopped() ? Long.MAX_VALUE - 2 : other.digestedTurns()));
                }
            }
            ofShards.add(others);
        }
        peers = ofShards;
    }

    /** Before the start: who is to be told of faults of the memory, and says what whoever met one gets. */
    public void whenFaulty(Function<InternalError, RuntimeException> handler) {
        whenFaulty = handler;
    }

    private void reportFault(InternalError fault) {
        errors.report("server " + serverId, whenFaulty.apply(fault));
    }

    /** Whether its memory is not to be touched any more. */
    private boolean isLost() {
        return failure instanceof LostAreaException;
    }

    private List<PeerReplica> peersOf(int shard) {
        return shard < peers.size() ? peers.get(shard) : List.of();
    }

    /** Starts the agents; from now on requests are served. Every server of the cluster was constructed before. */
    public void start() {
        agents.start();
        open = true;
    }

    public int serverId() {
        return serverId;
    }

    /** Whoever comes from now on gets this exception; who waits already may still be answered. */
    public void refuse(RuntimeException why) {
        refusal = why;
        open = false;
    }

    /**
     * Something broke that promises stand on: nobody is answered any more, who waits or comes gets this exception. Only
     * {@link #close} is left.
     */
    public void fail(RuntimeException why) {
        refuse(why);
        failure = why;
    }

    private static void requireNone(@Nullable RuntimeException why) {
        if (why != null) {
            // Made anew: each caller's stack, and none that grows by what is suppressed in it.
            throw new IllegalStateException(why.getMessage(), why);
        }
    }

    /** Cuts a server off this one's backup log: nothing of what it has under way lands after this returns. */
    public void fence(int server) {
        endpoint.receiveQueue().fence(server);
    }

    // --- requests ---

    /** Answers a request for a key or shard whose primary this server is, on the calling thread. */
    public void call(Request request) {
        try {
            final ShardPrimary primary = primaryFor(request);
            if (primary != null) {
                mutate(primary, request);
            }
        } catch (InternalError e) {
            throw whenFaulty.apply(e);
        }
    }

    /** As {@link #call}, for somebody who does not wait. */
    public SteppedCall stepped(Request request) {
        return new SteppedCall(this, request);
    }

    /** Who carries the request; null when it is answered already. */
    @Nullable
    ShardPrimary primaryFor(Request request) {
        final int shard = request.shard();
        final ShardPrimary primary = shard >= 0 && shard < primaries.length ? primaries[shard] : null;
        if (!open || primary == null) {
            requireNone(refusal);
            request.noResult();
            request.answer(open ? Status.NOT_PRIMARY : Status.CLOSED, 0, 0, 0);
            return null;
        }
        return request.operation() == Operation.GET
                        && request.accessTtlMs() == Ttl.UNCHANGED
                        && reader.get(
                                primary.replica(), request, primary.versions().last())
                ? null
                : primary;
    }

    /** A worker context for the request; {@link #CLOSED_SLOT} when it was answered instead, −1 when none is free. */
    int tryBorrow(Request request) {
        if (!open) {
            requireNone(refusal);
            request.noResult();
            request.answer(Status.CLOSED, 0, 0, 0);
            return CLOSED_SLOT;
        }
        return pool.tryBorrow();
    }

    void giveBack(int slot) {
        pool.giveBack(slot);
        agents.rouse(); // CommitVer is to be told of
    }

    Worker worker(int slot) {
        return pool.worker(slot);
    }

    private void mutate(ShardPrimary primary, Request request) {
        StackProbe.require(PROBE_DEPTH);
        final int slot = borrow(request);
        if (slot == CLOSED_SLOT) {
            return;
        }
        boolean isGivenBack = false;
        try {
            final Worker worker = pool.worker(slot);
            int waits = 0;
            while (!worker.finishLeftover()) {
                pause(waits++);
            }
            worker.begin(primary, request);
            while (!worker.advance()) {
                pause(waits++);
            }
            pool.giveBack(slot);
            isGivenBack = true;
        } finally {
            if (!isGivenBack) {
                pool.drop(slot);
            }
            agents.rouse(); // CommitVer is to be told of
        }
    }

    private int borrow(Request request) {
        int slot = tryBorrow(request);
        for (int waits = 0; slot == -1; waits++) {
            pause(waits);
            slot = tryBorrow(request);
        }
        return slot;
    }

    /** The calling thread waits for somebody else's progress, and helps it along where nobody else does. */
    private void pause(int waits) {
        if (waits >= YIELDS) {
            requireNone(failure);
        }
        rest(waits);
    }

    private void rest(int waits) {
        if (waits < SPINS) {
            Thread.onSpinWait();
        } else if (waits < YIELDS) {
            Thread.yield();
        } else {
            if (open && agents.isClosed()) {
                throw new IllegalStateException("server " + serverId
                        + " cannot go on: its agents were stopped by a broken invariant, which is in"
                        + " the log; close the store and open it again");
            }
            helpOthers();
            scheduling.park(PARK_NS);
        }
    }

    /** What somebody who waits for long does for those that he may be waiting for. */
    void helpOthers() {
        wakeUp.accept(serverId);
        pool.finishLeftovers();
    }

    private void retireLogsOlderThan(int sequence) {
        retention.retireLogOlderThan(sequence);
        pool.retireLogsOlderThan(sequence, segments);
    }

    /** Hands the live objects of a cache in a shard to a visitor, from a position; returns the next, or 0 at the end. */
    public long scan(int cacheId, int shard, long position, boolean withValues, ShardScan.Visitor visitor) {
        final ShardPrimary primary = primaries[shard];
        if (primary == null) {
            throw new IllegalArgumentException("server " + serverId + " is not the primary of shard " + shard);
        }
        requireNone(refusal);
        try {
            return scan.bucket(primary.replica(), cacheId, position, withValues, visitor);
        } catch (InternalError e) {
            throw whenFaulty.apply(e);
        }
    }

    /** Whether this server answers for a shard, as its primary. */
    public boolean isPrimary(int shard) {
        return shard >= 0 && shard < primaries.length && primaries[shard] != null;
    }

    /** Whether requests are served: started, not closed, not failed. */
    public boolean isServing() {
        return open;
    }

    /** Gives a cache a limit, or another one, or none. */
    public void limit(int cacheId, String name, CacheLimit limit) {
        if (limits.limit(cacheId, name, limit)) {
            agents.wakeUp();
        }
    }

    /** Objects of all caches that were evicted by this server since its start. */
    public long evictedObjects() {
        long evicted = 0;
        for (ShardPrimary primary : primaries) {
            evicted += primary == null ? 0 : primary.replica().counts().evictions();
        }
        return evicted;
    }

    /** Objects that this server has ended since its start without being asked to: evicted, or expired. */
    public long endedObjects() {
        return evictedObjects() + pool.expiredObjects();
    }

    /** Whether a cache is being brought below its limit, or what has expired is being ended. */
    public boolean isEndingObjects() {
        return (eviction.isAtWork() || !expirySweep.isIdle()) && !isStopped();
    }

    private boolean isEndingAnything() {
        return !expirySweep.isIdle() || eviction.isAtWork() || !sessionLeases.isIdle();
    }

    /** Who ends sessions that nobody uses. */
    public SessionLeaseAgent sessionLeases() {
        return sessionLeases;
    }

    /** Objects of the cache that were evicted by this server since its start. */
    public long evictions(int cacheId) {
        return limits.evictions(cacheId);
    }

    /** The last version given out of a shard whose primary this server is, else 0. */
    public long lastVersion(int shard) {
        final ShardPrimary primary = primaries[shard];
        return primary == null ? 0 : primary.versions().last();
    }

    /** Of such a shard: every change with a version ≤ it is on all replicas, and was handed to the change stream. */
    public long finishedVersion(int shard) {
        final long last = lastVersion(shard); // before the slots are read
        return inFlight.finished(shard, last);
    }

    /** The sessions open at a shard here. */
    @SuppressWarnings("ReturnsArray") // a copy
    public long[] openSessions(int shard) {
        return replicas.get(shard).openSessions();
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

    /** Comes last in every turn of the agents and counts the turns that left nothing to do. */
    private final class SettledTurns implements Agent {
        @Override
        public int doWork() {
            long canRestNs = 0;
            if (isSettled()) {
                digestedTurns.add(1);
                if (!digest.awaitsCommit()
                        && !cleaner.isBusy()
                        && !cleaner.isSpaceWanted()
                        && !eviction.isAtWork()
                        && !remembersDeletions()) {
                    settledTurns.add(1);
                    canRestNs = mayRest && commit.isQuiet() && !isEndingAnything() ? REST_NS : 0;
                }
            }
            restNs = canRestNs;
            return 0;
        }

        @Override
        public String roleName() {
            return "settled";
        }
    }

    /** Whether the agents have nothing to do, and rest longer than a moment between two turns. */
    public boolean isAtRest() {
        return restNs > 0;
    }

    /** How often the agents went to rest. Between two rests they make two turns, if there is nothing to do. */
    public long rests() {
        return agents.rests();
    }

    /** Turns of the agents since the start. */
    public long turns() {
        return agents.turns();
    }

    /** The joining replicas' part of what {@link CopyListener} is told. Any thread. */
    public JoinAgent joining() {
        return join;
    }

    /** Entries that were sent to joining replicas of other servers. */
    public long copiedEntries() {
        return copier.entries();
    }

    /** Whether tombstones wait for CommitVer before they can be dropped. Those that wait for a copy to end may wait long. */
    private boolean remembersDeletions() {
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            if (replicas.has(shard)
                    && !replicas.get(shard).isJoining()
                    && replicas.get(shard).deletions().size() > 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether digest and sweep had no work left at their last turn. */
    public boolean isSettled() {
        return (settings.postedAhead() == 0 || digest.isIdle()) && sweep.isIdle() && sweep.isDone();
    }

    /**
     * Finishes what callers that died have left, and gives back what idle workers have drawn ahead, here and at the backups;
     * false while there is a worker that is not idle. The agents' own worker follows in their next turn.
     */
    public boolean releaseGrants() {
        retention.wantRelease();
        agents.wakeUp();
        return pool.releaseGrants();
    }

    public void wantSpace() {
        cleaner.wantSpace();
        agents.wakeUp();
    }

    /** Ends what has expired, because somebody wants space. */
    public void endExpired() {
        if (expirySweep.want()) {
            agents.wakeUp();
        }
    }

    /** Whether that is not over yet for who wanted it then, by the clock of intervals. */
    public boolean isExpiring(long sinceNs) {
        return expirySweep.isAwaited(sinceNs) && !isStopped();
    }

    /** Turns of the agents that found nothing left to do which gives space back. */
    public long settledTurns() {
        return settledTurns.get();
    }

    /** Turns of the agents at whose end all that had landed was digested, and every clear swept. */
    public long digestedTurns() {
        return digestedTurns.get();
    }

    /** Whether nothing goes on here: closed, failed, or stopped by a broken invariant, which is in the error log. */
    public boolean isStopped() {
        return agents.isClosed() || failure != null;
    }

    public ServerStatistics statistics() {
        return meters.read(
                serverId,
                expirySweep.endedObjects(),
                evictedObjects(),
                isSettled(),
                sessionLeases.endedSessions(),
                turns());
    }

    /** Stops serving, lets every mutation end, and closes all logs. The area stays its owner's. */
    @Override
    public void close() {
        open = false;
        pool.close(new WorkerPool.Patience() {
            @Override
            public void rest(int waits) {
                Server.this.rest(waits);
            }

            @Override
            public boolean isOver() {
                return isStopped();
            }
        });
        expirySweep.close();
        eviction.close();
        sessionLeases.close();
        for (int waits = 0; isEndingAnything() && !isStopped(); waits++) {
            rest(waits);
        }
    }

    /** Instead of {@link #close} and what follows it, when the memory is lost: ends the agents, and touches nothing. */
    public void abandon() {
        open = false;
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
