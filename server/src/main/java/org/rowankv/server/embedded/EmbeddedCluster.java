package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.recovery.ColdStart;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.snapshot.SnapshotOutcome;
import org.rowankv.server.snapshot.SnapshotProgress;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Servers inside this JVM, connected by the local fabric. Opens an existing store by a cold start, a new one empty.
 *
 * <p>Once it has failed it refuses everything, with a {@link RowanException} that has the failure as its cause; operations that
 * wait get it too. It fails when an area cannot be forced or is lost, and when an agent is stopped ({@link
 * org.rowankv.runtime.AgentStoppedException}). Only {@link #close} is left.
 *
 * <p>Thread-safe. {@link #close} waits for the operations under way, each step no longer than the deadline of the settings;
 * operations that come later are answered CLOSED.
 */
public final class EmbeddedCluster implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCluster.class);

    private final EmbeddedSettings settings;
    private final EmbeddedContext surroundings;
    private final StoreFiles files;
    /** Changes when joining replicas become complete; servers and roles stay what they were at the start. */
    private final NewestConfiguration configuration;

    private final Fabric fabric;
    private final ErrorLog errors;
    private final List<Server> servers = new ArrayList<>();
    private final EmbeddedCatalogue caches;
    private final InProcessSession session;
    private final AtomicInteger joinsCompleted = new AtomicInteger();
    /** Whoever serves, from the moment they do. */
    private volatile List<Server> serving = List.of();

    private final StoreShutdown end = new StoreShutdown();
    private final EmbeddedSpacePressure pressure = new EmbeddedSpacePressure(servers);
    private final DigestBarrier digestBarrier;
    private final FileFaults faults;
    private final Checkpoints checkpoints;
    private final LiveReading reading;
    private boolean closed;

    /**
     * Opens the store.
     *
     * @throws org.rowankv.server.area.StoreOpenException if it cannot be opened; says why and what to do
     */
    public static EmbeddedCluster open(EmbeddedSettings settings) {
        return open(settings, EmbeddedContext.machine());
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, Clock clock, RandomSource random) {
        return open(settings, EmbeddedContext.of(clock, random));
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, EmbeddedContext surroundings) {
        for (int found = 0; ; found++) {
            final StoreFiles files = StoreFiles.open(settings, surroundings);
            try {
                return new EmbeddedCluster(settings, files, surroundings);
            } catch (UnusableAreaException e) {
                files.closeAsFound(e);
                // Its area says so itself by now: the next attempt does without that server, or is refused.
                if (found == settings.shape().servers()) {
                    throw e;
                }
                LOG.warn("the store is opened once more: {}", e.getMessage());
            } catch (RuntimeException | Error e) {
                files.closeAfterFailure(e);
                throw e;
            }
        }
    }

    private EmbeddedCluster(EmbeddedSettings settings, StoreFiles files, EmbeddedContext surroundings) {
        this.settings = settings;
        this.files = files;
        this.surroundings = surroundings;
        final RandomSource random = surroundings.random();
        final Clock clock = surroundings.clocks().apply(0);
        this.digestBarrier = new DigestBarrier(servers, clock, surroundings.scheduling(), settings.deadlineMs());
        this.errors = new ErrorLog(clock);
        errors.whenBroken(this::stopServing);
        final long startNs = clock.nanoTime();
        files.areas().forEach(area -> area.startForcing(surroundings.scheduling(), errors, this::stopServing));
        files.startIncarnations();
        final Configuration planned = files.configuration();
        this.checkpoints = new Checkpoints(settings, files, surroundings);
        final AreaRecovery recovery = new AreaRecovery(settings, files, surroundings, checkpoints);
        final List<RecoveredServer> recovered = recovery.recover(planned, clock, random, errors);
        // A new term, new incarnations, and a new epoch for every shard: stored once all areas are read, and before
        // anything
        // is removed because of it.
        final Configuration started = files.startTerm();
        recovered.forEach(RecoveredServer::settle);
        final long scattered = ColdStart.collectAndScatter(started, recovered);
        this.configuration = new NewestConfiguration(started);
        this.fabric = surroundings.fabric().apply(new LocalFabric(LocalFabricSettings.of(with -> {
            with.maxMessage = settings.shape().maxMessage();
            with.ackLevel = settings.shape().durability() == Durability.POWER ? AckLevel.FORCED : AckLevel.LANDED;
            with.keepsReserve = true;
            with.counters = recovery.serverSettings().counters();
        })));
        this.faults = new FileFaults(settings.dir(), files.areas(), this::stopServing);
        try {
            final CopyListener copies = new JoiningCopies(servers, this::joined);
            final MembershipView view = new StartedRoles(started);
            for (RecoveredServer server : recovered) {
                servers.add(new ServerContext(
                                recovery.serverSettings(),
                                server.segments(),
                                server.replicas(),
                                started,
                                surroundings.clocks().apply(server.serverId()),
                                surroundings.scheduling(),
                                ThreadingMode.SHARED,
                                errors,
                                pressure::wakeUp,
                                pressure,
                                copies,
                                this::renewed,
                                List.of())
                        .open(server.serverId(), fabric, view));
            }
            startServers(clock);
            final CatalogueStore catalogue =
                    new CatalogueStore(files.store(), "embedded", random.fork("catalogue"), this::destroyObjects);
            this.caches = new EmbeddedCatalogue(catalogue, servers);
            this.session = new InProcessSession(started, servers, new SessionCatalogue(caches));
            if (surroundings.clientsEndWithStore()) {
                closeOldSessions();
            }
            catalogue.resume();
            final BitSet retired = catalogue.retiredIds();
            servers.forEach(server ->
                    server.replicas().all().forEach(replica -> replica.clears().retire(retired)));
            caches.applyLimits();
            this.reading = new LiveReading(files, servers, caches, settings, clock, surroundings.scheduling());
        } catch (RuntimeException | Error e) {
            abandon(e);
            throw e;
        }
        logStart(recovered, scattered, clock.nanoTime() - startNs);
    }

    private void startServers(Clock clock) {
        servers.forEach(server -> server.meet(servers));
        servers.forEach(server -> server.whenFaulty(faults::explain));
        servers.forEach(server -> server.deadline(settings.deadlineMs() * 1_000_000));
        servers.forEach(Server::start);
        serving = List.copyOf(servers);
        final IllegalStateException already = end.reason();
        if (already != null) {
            serving.forEach(server -> server.fail(already));
        }
        checkpoints.start(servers, errors);
        faults.watch(clock, surroundings.scheduling(), errors);
    }

    /** Ends all agents, and touches nothing: only then may files and lock be given back. */
    private void abandon(Throwable failure) {
        StoreFiles.suppress(failure, faults::close);
        StoreFiles.suppress(failure, checkpoints::abandon);
        servers.forEach(server -> StoreFiles.suppress(failure, server::abandon));
        StoreFiles.suppress(failure, fabric::close);
    }

    /** A server's replicas hold all that they lacked: from now on they are as good as any. */
    private boolean joined(int server) {
        final Configuration next = files.joined(server);
        if (next == null) {
            return false;
        }
        configuration.adopt(next);
        joinsCompleted.incrementAndGet();
        LOG.info("server {} holds complete replicas again; term {}", server, next.term());
        return true;
    }

    /** Versions of shards come to the end of their epochs: from now on these have others. */
    private @Nullable Configuration renewed(List<Integer> shards) {
        final Configuration next = files.renewed(shards);
        if (next != null) {
            configuration.adopt(next);
        }
        return next;
    }

    /**
     * An area cannot be forced any more or is lost, or an agent was stopped: no server acknowledges anything, since every shard may
     * need it. Any thread, also an agent's inside its turn: does not wait.
     */
    private void stopServing(IllegalStateException found) {
        final IllegalStateException why = end.add(found);
        // A caller that hears of it from one server is answered by none any more.
        serving.forEach(server -> server.refuse(why));
        serving.forEach(server -> server.fail(why));
    }

    /** Every client of an embedded store lives in its JVM, so the sessions of the process before are over. */
    private void closeOldSessions() {
        final Request request = new Request();
        for (int shard = 0; shard < configuration.get().shardCount(); shard++) {
            final int primary = configuration.get().shard(shard).primary();
            for (long sessionId :
                    servers.get(primary).replicas().get(shard).sessions().openIds()) {
                session.call(request.closeSession(shard, sessionId));
            }
        }
    }

    private void logStart(List<RecoveredServer> recovered, long scattered, long tookNs) {
        long entries = 0;
        long torn = 0;
        for (RecoveredServer server : recovered) {
            entries += server.entries();
            torn += server.tornEntries();
        }
        LOG.info(
                "Rowan-KV embedded: {} server(s), {} replica(s), {} MiB each, {}; durability {}{}; term {}; {} objects"
                        + " from checkpoints, {} entries read{}, {} scattered, {} ms",
                settings.shape().servers(),
                settings.shape().replicas(),
                settings.capacityBytes() >> 20,
                settings.dir() == null ? "no dir" : "dir " + settings.dir(),
                durability(),
                settings.dir() == null ? ": the content ends with the last close" : "",
                configuration.get().term(),
                checkpoints.statistics().objects(),
                entries,
                torn == 0 ? "" : ", " + torn + " torn and dropped",
                scattered,
                tookNs / 1_000_000);
    }

    public EmbeddedSettings settings() {
        return settings;
    }

    public Configuration configuration() {
        return configuration.get();
    }

    EmbeddedCatalogue catalogue() {
        return caches;
    }

    /** The one session in process; shared by all clients, which never close it. */
    public Session session() {
        return session;
    }

    /** What an acknowledged write survives: {@code none}, {@code process} or {@code power}. */
    public String durability() {
        return settings.shape().durability().parameter();
    }

    /** For judges that look inside. */
    public List<Server> servers() {
        return Collections.unmodifiableList(servers);
    }

    public @Nullable Path dir() {
        return settings.dir();
    }

    private void destroyObjects(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < configuration.get().shardCount(); shard++) {
            session.call(request.destroy(cacheId, shard));
            // Unknown: destroyed already, by an attempt that was broken off.
            if (request.status() != Status.OK && request.status() != Status.UNKNOWN_CACHE) {
                throw new RowanException(
                        request.status(),
                        "destroying cache " + cacheId + " in shard " + shard + " was answered " + request.status());
            }
        }
        servers.forEach(server -> server.limit(cacheId, "", CacheLimit.NONE));
    }

    /** What workers have drawn ahead of entries may be lacking elsewhere. False while there is a worker that is not idle. */
    public boolean releaseGrants() {
        return pressure.releaseGrants();
    }

    /** Server {@code to} cuts server {@code from} off its backup log; {@code from} connects again when it next writes. */
    public void fenceLink(int from, int to) {
        servers.get(to).fence(from);
    }

    public List<ServerStatistics> statistics() {
        final List<ServerStatistics> statistics = new ArrayList<>();
        servers.forEach(server -> statistics.add(server.statistics()));
        return Collections.unmodifiableList(statistics);
    }

    /** What checkpoints did since the start. */
    public CheckpointStatistics checkpoints() {
        return checkpoints.statistics();
    }

    /** Failures of agents and links, and invalid entries met, since the start. */
    public ErrorLog errors() {
        return errors;
    }

    /** {@link #snapshot(Path, SnapshotProgress)}. */
    public SnapshotOutcome snapshot(Path target) {
        return snapshot(target, SnapshotProgress.NONE);
    }

    /**
     * Copies the store to a directory while it is used. The copy opens like any other store, at any level of durability, and
     * holds a consistent cut: every operation that was acknowledged before this was called, none that began after it
     * returned, and of each shard all operations up to one and no later one. Limits and caches are those of the same moment.
     *
     * <p>The caller waits; an interrupt does not cut that short. Nothing else waits, but for a moment who makes or removes
     * caches. When the store is nearly full and the target slow, writes go first, and the copy is given up.
     *
     * <p>Copy and original claim to be the same store: open the copy when the original is gone, or apart from it.
     *
     * @param target a directory that is missing or empty, outside of the store's own
     * @throws org.rowankv.server.area.StoreOpenException if that cannot be done; says why. The target is as it was
     */
    public SnapshotOutcome snapshot(Path target, SnapshotProgress progress) {
        return reading.snapshot(target, progress);
    }

    /**
     * Compares the replicas of every shard while the store is used: for each, a digest of the keys, versions, values and
     * expiries that its log holds up to one version of the shard, the same for all. The caller waits, nothing else does.
     *
     * @throws org.rowankv.server.area.StoreOpenException if that cannot be done now; says why
     */
    public LiveReplicaReport verifyReplicas() {
        return reading.compareReplicas();
    }

    /** Servers whose replicas became complete since the start. */
    public int joinsCompleted() {
        return joinsCompleted.get();
    }

    /**
     * Waits until everything that has landed in the backup logs is digested, every clear is swept, and caches that were
     * above their limits are below. Waits for writers that go on as well. Ends early when the store fails.
     *
     * @throws RowanException OUTCOME_UNKNOWN if that is not so when the deadline of the settings has passed
     */
    public void awaitDigested() {
        digestBarrier.await();
    }

    /** Ends, whatever has failed: releases threads, files and the lock of the directory in any case. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        reading.close();
        faults.close();
        session.close();
        if (end.closing() == StoreShutdown.CloseSequence.UNTOUCHED) {
            closeUntouched();
            return;
        }
        try {
            endServers();
        } catch (RuntimeException | Error e) {
            abandon(e);
            files.closeAfterFailure(e);
            throw e;
        }
        // Every agent has ended by now: nothing fails behind this.
        final IllegalStateException why = end.reason();
        if (why != null && end.closing() != StoreShutdown.CloseSequence.CLEAN) {
            files.closeAfterFailure(why);
            return;
        }
        try {
            checkpoints.takeLast();
        } catch (RuntimeException | Error e) {
            files.closeAfterFailure(e);
            throw e;
        }
        files.closeClean();
    }

    private void closeUntouched() {
        final IllegalStateException lost = java.util.Objects.requireNonNull(end.reason());
        checkpoints.abandon();
        servers.forEach(Server::abandon);
        files.closeAfterFailure(lost);
    }

    private void endServers() {
        servers.forEach(Server::close);
        if (!digestBarrier.isOverInTime()) {
            LOG.warn(
                    "what landed in the backup logs was not digested within {} ms: the next start reads it from there",
                    settings.deadlineMs());
        }
        if (end.closing() == StoreShutdown.CloseSequence.CLEAN) {
            checkpoints.stop(servers);
        } else {
            checkpoints.abandon();
        }
        servers.forEach(Server::stopAgents);
        servers.forEach(Server::stop);
        fabric.close();
    }

    /**
     * The servers that may connect: those in the term that gave out the roles. Later terms, in which replicas become complete, change
     * neither roles nor incarnations.
     */
    private record StartedRoles(Configuration started) implements MembershipView {
        @Override
        public long term() {
            return started.term();
        }

        @Override
        public boolean admits(int serverId, long incarnation, long term) {
            return term == started.term()
                    && serverId >= 0
                    && serverId < started.serverCount()
                    && started.incarnations().get(serverId) == incarnation;
        }
    }
}
