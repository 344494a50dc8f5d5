package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanException;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.placement.KeyHash;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.ThreadingMode;
import org.rowankv.server.Server;
import org.rowankv.server.ServerParts;
import org.rowankv.server.ServerSettings;
import org.rowankv.server.ServerStatistics;
import org.rowankv.server.WaitLimit;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.digest.DamagedLandingError;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.Area;
import org.rowankv.server.pm.Durability;
import org.rowankv.server.pm.LostAreaException;
import org.rowankv.server.reconfiguration.ColdStart;
import org.rowankv.server.reconfiguration.CopyListener;
import org.rowankv.server.reconfiguration.RecoveredServer;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Servers inside this JVM, connected by the local fabric. Opens an existing store by a cold start, a new one empty.
 *
 * <p>Once it has failed it refuses everything, with a {@link RowanException} that has the failure as its cause; operations that
 * wait get it too. It fails when an area cannot be forced or is lost, and when an agent is stopped ({@link
 * AgentStoppedException}). Only {@link #close} is left.
 *
 * <p>Thread-safe. {@link #close} waits for the operations under way, each step no longer than the deadline of the settings;
 * operations that come later are answered CLOSED.
 */
public final class EmbeddedCluster implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCluster.class);

    private final EmbeddedSettings settings;
    private final Surroundings surroundings;
    private final StoreFiles files;
    /** Changes when joining replicas become complete; servers and roles stay what they were at the start. */
    private volatile Configuration configuration;

    private final Fabric fabric;
    private final ErrorLog errors;
    private final List<Server> servers = new ArrayList<>();
    private final InProcessSession session;
    private final AtomicInteger joinsCompleted = new AtomicInteger();
    /** Whoever serves, from the moment they do. */
    private volatile List<Server> serving = List.of();

    /** The first failure; or that an area is lost, since its memory must not be touched any more. */
    private final AtomicReference<@Nullable IllegalStateException> failure = new AtomicReference<>();

    private final Clock clock;
    private final FileFaults faults;
    private final Checkpoints checkpoints;
    private final LiveReading reading;
    private boolean closed;

    /**
     * Opens the store.
     *
     * @throws org.rowankv.server.pm.StoreOpenException if it cannot be opened; says why and what to do
     */
    public static EmbeddedCluster open(EmbeddedSettings settings) {
        return open(settings, Surroundings.machine());
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, Clock clock, RandomSource random) {
        return open(settings, Surroundings.of(clock, random));
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, Surroundings surroundings) {
        final StoreFiles files = StoreFiles.open(settings, surroundings);
        try {
            return new EmbeddedCluster(settings, files, surroundings);
        } catch (RuntimeException | Error e) {
            files.closeAfterFailure(e);
            throw e;
        }
    }

    private EmbeddedCluster(EmbeddedSettings settings, StoreFiles files, Surroundings surroundings) {
        this.settings = settings;
        this.files = files;
        this.surroundings = surroundings;
        final RandomSource random = surroundings.random();
        this.clock = surroundings.clocks().apply(0);
        this.errors = new ErrorLog(clock);
        errors.whenBroken(this::stopServing);
        final long startNs = clock.nanoTime();
        files.areas().forEach(area -> area.startForcing(surroundings.scheduling(), errors, this::stopServing));
        files.startIncarnations();
        final Configuration planned = files.configuration();
        this.checkpoints = new Checkpoints(settings, files, surroundings);
        final List<RecoveredServer> recovered = recover(planned, clock, random);
        final long scattered = ColdStart.collectAndScatter(planned, recovered);
        // A new term, new incarnations, and a new epoch for every shard, stored before anything is served.
        final Configuration started = files.startTerm();
        this.configuration = started;
        this.fabric = surroundings
                .fabric()
                .apply(new LocalFabric(LocalFabricSettings.defaults()
                        .withMaxMessage(settings.maxMessage())
                        .withAckLevel(settings.durability() == Durability.POWER ? AckLevel.FORCED : AckLevel.LANDED)
                        .withReserve()
                        .withCounters(serverSettings().counters())));
        // Connections are made in the term that gave out the roles; those in which replicas become complete change
        // none.
        final MembershipView view = new MembershipView() {
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
        };
        final SpacePressure pressure = new SpacePressure() {
            @Override
            public void wakeUp(int server) {
                EmbeddedCluster.this.wakeUp(server);
            }

            @Override
            public void wantSpace(int server) {
                releaseGrants();
                servers.forEach(Server::endExpired);
                servers.get(server).wantSpace();
            }

            @Override
            public boolean isExpiring(long sinceNs) {
                for (int server = 0; server < servers.size(); server++) {
                    if (servers.get(server).isExpiring(sinceNs)) {
                        return true;
                    }
                }
                return false;
            }

            @Override
            public long settledTurns(int server) {
                return servers.get(server).settledTurns();
            }
        };
        final CopyListener copies = new CopyListener() {
            @Override
            public void announced(int shard, int server, long bytes) {
                servers.get(server).joining().announced(bytes);
            }

            @Override
            public void copied(int shard, int server, long unused) {
                servers.get(server).joining().copied(shard, unused);
                wakeUp(server);
            }

            @Override
            public boolean joined(int server) {
                return EmbeddedCluster.this.joined(server);
            }
        };
        for (RecoveredServer server : recovered) {
            servers.add(new ServerParts(
                            serverSettings(),
                            server.segments(),
                            server.replicas(),
                            started,
                            surroundings.clocks().apply(server.serverId()),
                            surroundings.scheduling(),
                            ThreadingMode.SHARED,
                            errors,
                            this::wakeUp,
                            pressure,
                            copies,
                            this::renewed,
                            List.of())
                    .open(server.serverId(), fabric, view));
        }
        this.faults = new FileFaults(settings.dir(), files.areas(), this::stopServing);
        servers.forEach(server -> server.meet(servers));
        servers.forEach(server -> server.whenFaulty(faults::explain));
        servers.forEach(server -> server.deadline(settings.deadlineMs() * 1_000_000));
        servers.forEach(Server::start);
        serving = List.copyOf(servers);
        final IllegalStateException already = failure.get();
        if (already != null) {
            serving.forEach(server -> server.fail(already));
        }
        checkpoints.start(servers, errors);
        faults.watch(clock, surroundings.scheduling(), errors);
        final CatalogueStore catalogue =
                new CatalogueStore(files.store(), "embedded", random.fork("catalogue"), this::destroyObjects);
        final EmbeddedCatalogue caches = new EmbeddedCatalogue(catalogue, servers);
        this.session = new InProcessSession(started, servers, caches);
        if (surroundings.clientsEndWithStore()) {
            closeOldSessions();
        }
        catalogue.resume();
        caches.applyLimits();
        this.reading = new LiveReading(files, servers, caches, settings, clock, surroundings.scheduling());
        logStart(recovered, scattered, clock.nanoTime() - startNs);
    }

    /** A server's replicas hold all that they lacked: from now on they are as good as any. */
    private boolean joined(int server) {
        final Configuration next = files.joined(server);
        if (next == null) {
            return false;
        }
        configuration = next;
        joinsCompleted.incrementAndGet();
        LOG.info("server {} holds complete replicas again; term {}", server, next.term());
        return true;
    }

    /** Versions of shards come to the end of their epochs: from now on these have others. */
    private @Nullable Configuration renewed(List<Integer> shards) {
        final Configuration next = files.renewed(shards);
        if (next != null) {
            configuration = next;
        }
        return next;
    }

    /**
     * An area cannot be forced any more or is lost, or an agent was stopped: no server acknowledges anything, since every shard may
     * need it. Any thread, also an agent's inside its turn: does not wait.
     */
    private void stopServing(IllegalStateException found) {
        final IllegalStateException why = java.util.Objects.requireNonNull(
                failure.updateAndGet(first -> first == null || found instanceof LostAreaException ? found : first));
        // A caller that hears of it from one server is answered by none any more.
        serving.forEach(server -> server.refuse(why));
        serving.forEach(server -> server.fail(why));
    }

    private ServerSettings serverSettings() {
        final int segmentCount = (int) (settings.capacityBytes() / settings.segmentBytes());
        return surroundings
                .tuning()
                .apply(ServerSettings.of(
                        segmentCount,
                        settings.workers(),
                        settings.replicas() > 1,
                        settings.verifyReads(),
                        (long) settings.scrubMibPerSecond() << 20));
    }

    private List<RecoveredServer> recover(Configuration found, Clock clock, RandomSource random) {
        final KeyHash keyHash = new KeyHash(found.hashSeed());
        final ServerSettings serverSettings = serverSettings();
        final List<RecoveredServer> recovered = new ArrayList<>();
        for (Area area : files.areas()) {
            final Segments segments = new Segments(
                    area,
                    random.fork("segments-" + area.serverId()),
                    serverSettings.cleanerReserve(),
                    serverSettings.spaceLimit(area.segmentCount(), area.segmentLength()),
                    serverSettings.counters());
            final @Nullable ShardReplica[] replicas = new @Nullable ShardReplica[found.shardCount()];
            for (int shard = 0; shard < replicas.length; shard++) {
                if (found.shard(shard).isReplica(area.serverId())) {
                    replicas[shard] = new ShardReplica(
                            shard,
                            found.shardCount(),
                            keyHash,
                            segments,
                            area.tenures().tenure(shard));
                    if (found.shard(shard).isJoining(area.serverId())) {
                        replicas[shard].beginJoining();
                    }
                }
            }
            final RecoveredServer server = new RecoveredServer(
                    area.serverId(), segments, new Replicas(replicas), settings.replicas() > 1, errors);
            checkpoints.recover(server, found, clock);
            recovered.add(server);
        }
        return recovered;
    }

    /** Every client of an embedded store lives in its JVM, so the sessions of the process before are over. */
    private void closeOldSessions() {
        final Request request = new Request();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final int primary = configuration.shard(shard).primary();
            for (long sessionId : servers.get(primary).openSessions(shard)) {
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
                settings.servers(),
                settings.replicas(),
                settings.capacityBytes() >> 20,
                settings.dir() == null ? "no dir" : "dir " + settings.dir(),
                durability(),
                settings.dir() == null ? ": the content ends with the last close" : "",
                configuration.term(),
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
        return configuration;
    }

    /** The one session in process; shared by all clients, which never close it. */
    public Session session() {
        return session;
    }

    /** What an acknowledged write survives: {@code none}, {@code process} or {@code power}. */
    public String durability() {
        return settings.durability().parameter();
    }

    /** For judges that look inside. */
    public List<Server> servers() {
        return Collections.unmodifiableList(servers);
    }

    public @Nullable Path dir() {
        return settings.dir();
    }

    private void wakeUp(int server) {
        servers.get(server).wakeUp();
    }

    private void destroyObjects(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
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
        boolean allIdle = true;
        for (Server server : servers) {
            allIdle &= server.releaseGrants();
        }
        return allIdle;
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
     * @throws org.rowankv.server.pm.StoreOpenException if that cannot be done; says why. The target is as it was
     */
    public SnapshotOutcome snapshot(Path target, SnapshotProgress progress) {
        return reading.snapshot(target, progress);
    }

    /**
     * Compares the replicas of every shard while the store is used: for each, a digest of the keys, versions, values and
     * expiries that its log holds up to one version of the shard, the same for all. The caller waits, nothing else does.
     *
     * @throws org.rowankv.server.pm.StoreOpenException if that cannot be done now; says why
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
        if (!isDigestedInTime()) {
            throw new RowanException(
                    Status.OUTCOME_UNKNOWN,
                    "what landed in the backup logs was not digested within " + settings.deadlineMs() + " ms");
        }
    }

    /** Each round ends by the deadline; a further round begins only if objects were ended, of which there are finitely many. */
    private boolean isDigestedInTime() {
        long ended;
        do {
            ended = endedObjects();
            if (!awaitDigestedOnce()) {
                return false;
            }
            // The end of what was evicted or expired meanwhile may have landed where nobody has looked since.
        } while (endedObjects() != ended || servers.stream().anyMatch(Server::isEndingObjects));
        return true;
    }

    private long endedObjects() {
        long ended = 0;
        for (Server server : servers) {
            ended += server.endedObjects();
        }
        return ended;
    }

    private boolean awaitDigestedOnce() {
        final WaitLimit limit = new WaitLimit(clock, settings.deadlineMs() * 1_000_000);
        for (Server server : servers) {
            // Two more: the first may have begun before what the caller cares for had landed.
            final long enough = server.digestedTurns() + 2;
            while (server.digestedTurns() < enough && !server.isStopped()) {
                if (limit.isOver()) {
                    return false;
                }
                server.wakeUp();
                surroundings.scheduling().park(20_000);
            }
        }
        return true;
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
        if (failure.get() instanceof LostAreaException lost) {
            checkpoints.abandon();
            servers.forEach(Server::abandon);
            files.closeAfterFailure(lost);
            return;
        }
        try {
            endServers();
        } catch (RuntimeException | Error e) {
            checkpoints.abandon();
            servers.forEach(Server::abandon);
            files.closeAfterFailure(e);
            throw e;
        }
        if (failure.get() instanceof AgentStoppedException why) {
            // As after a crash of the process: what an agent left half done is not to be believed, only the log is.
            files.closeAfterFailure(why);
            if (why.getCause() instanceof DamagedLandingError damaged) {
                files.setAside(damaged.serverId());
            }
            return;
        }
        checkpoints.takeLast();
        files.closeClean();
    }

    private void endServers() {
        servers.forEach(Server::close);
        if (!isDigestedInTime()) {
            LOG.warn(
                    "what landed in the backup logs was not digested within {} ms: the next start reads it from there",
                    settings.deadlineMs());
        }
        if (failure.get() instanceof AgentStoppedException) {
            checkpoints.abandon();
        } else {
            checkpoints.stop(servers);
        }
        servers.forEach(Server::stopAgents);
        servers.forEach(Server::stop);
        fabric.close();
    }
}
