package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
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
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.catalogue.SpareContents;
import org.rowankv.server.checkpoint.CheckpointStatistics;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.recovery.LogReconciliation;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.server.snapshot.SnapshotOutcome;
import org.rowankv.server.snapshot.SnapshotProgress;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Servers inside this JVM, connected by the local fabric. Opens an existing store by a cold start, a new one empty.
 *
 * <p>After a failure it refuses all operations with a {@link RowanException} that has the failure as its cause; pending
 * operations receive it too. Failures are: an area cannot be forced or is lost, or an agent is stopped ({@link
 * org.rowankv.runtime.AgentStoppedException}). Only {@link #close} remains possible.
 *
 * <p>Thread-safe. {@link #close} waits for pending operations, each step no longer than the deadline of the settings;
 * later operations are answered CLOSED.
 */
public final class EmbeddedCluster implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCluster.class);

    private final EmbeddedSettings settings;
    private final EmbeddedContext context;
    private final StoreFiles files;
    private final EmbeddedConfigurationManager manager;
    private final InProcessPeers peers;
    private final Fabric fabric;
    private final ErrorLog errors;
    private final List<Server> servers = new ArrayList<>();
    private final EmbeddedCatalogue caches;
    private final InProcessSession session;
    /** The serving servers; empty before the start. */
    private volatile List<Server> serving = List.of();

    private final StoreShutdown shutdown = new StoreShutdown();
    private final DigestBarrier digestBarrier;
    private final FileFaults faults;
    private final Checkpoints checkpoints;
    private final LiveReading reading;
    private boolean closed;

    /**
     * Opens the store.
     *
     * @throws org.rowankv.server.area.StoreOpenException if it cannot be opened; the message states the cause and the
     * remedy
     */
    public static EmbeddedCluster open(EmbeddedSettings settings) {
        return open(settings, EmbeddedContext.machine());
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, Clock clock, RandomSource random) {
        return open(settings, EmbeddedContext.of(clock, random));
    }

    public static EmbeddedCluster open(EmbeddedSettings settings, EmbeddedContext context) {
        for (int found = 0; ; found++) {
            final StoreFiles files = StoreFiles.open(settings, context);
            try {
                return new EmbeddedCluster(settings, files, context);
            } catch (UnusableAreaException e) {
                files.closeAsFound(e);
                // Its area is marked by now: the next attempt proceeds without that server, or is refused.
                if (found == settings.shape().servers()) {
                    throw e;
                }
                LOG.warn("ROWAN-2006 reopening the store: {}", e.getMessage());
            } catch (RuntimeException | Error e) {
                files.closeAfterFailure(e);
                throw e;
            }
        }
    }

    private EmbeddedCluster(EmbeddedSettings settings, StoreFiles files, EmbeddedContext context) {
        this.settings = settings;
        this.files = files;
        this.context = context;
        final RandomSource random = context.random();
        final Clock clock = context.clocks().apply(0);
        this.digestBarrier = new DigestBarrier(servers, clock, context.scheduling(), settings.deadlineMs());
        this.errors = new ErrorLog(clock);
        errors.whenBroken(this::stopServing);
        final long startNs = clock.nanoTime();
        files.areas().forEach(area -> area.startForcing(context.scheduling(), errors, this::stopServing));
        files.startIncarnations();
        final Configuration planned = files.configuration();
        this.checkpoints = new Checkpoints(settings, files, context);
        final AreaRecovery recovery = new AreaRecovery(settings, files, context, checkpoints);
        final List<RecoveredServer> recovered = recovery.recover(planned, clock, random, errors);
        // A new term, new incarnations, and a new epoch for every shard. Stored once all areas are read, and before
        // anything is removed because of it.
        final Configuration started = files.startTerm();
        recovered.forEach(RecoveredServer::settle);
        final long scattered = LogReconciliation.reconcile(started, recovered);
        this.faults = new FileFaults(settings.dir(), files.areas(), this::stopServing);
        this.manager =
                new EmbeddedConfigurationManager(files, servers, clock, context.scheduling(), errors, faults::explain);
        this.peers = new InProcessPeers(servers, manager);
        this.fabric = context.fabric().apply(new LocalFabric(LocalFabricSettings.of(with -> {
            with.maxMessage = settings.shape().maxMessage();
            with.ackLevel = settings.shape().durability() == Durability.POWER ? AckLevel.FORCED : AckLevel.LANDED;
            with.keepsReserve = true;
            with.counters = recovery.serverSettings().counters();
        })));
        try {
            final MembershipView view = new StartedMembers(started);
            for (RecoveredServer server : recovered) {
                servers.add(new ServerContext(
                                recovery.serverSettings(),
                                server.segments(),
                                server.replicas(),
                                started,
                                context.clocks().apply(server.serverId()),
                                context.scheduling(),
                                ThreadingMode.SHARED,
                                errors,
                                peers,
                                peers,
                                shards -> manager.renew(server.serverId(), shards),
                                AnswerPermit.ALWAYS,
                                List.of())
                        .open(server.serverId(), fabric, view));
            }
            startServers(clock);
            this.caches = new EmbeddedCatalogue(
                    files.store(),
                    random.fork("catalogue"),
                    manager,
                    servers,
                    request -> session().call(request));
            this.session =
                    new InProcessSession(manager::newest, servers, new SessionCatalogue(caches), clock, deadlineNs());
            if (context.clientsEndWithStore()) {
                closeOldSessions();
            }
            caches.start();
            this.reading = new LiveReading(files, servers, manager, caches, settings, clock, context.scheduling());
        } catch (RuntimeException | Error e) {
            abandon(e);
            throw e;
        }
        logStart(recovered, scattered, clock.nanoTime() - startNs);
    }

    private void startServers(Clock clock) {
        for (Server server : servers) {
            server.meet(servers);
            server.whenFaulty(faults::explain);
            server.deadline(deadlineNs());
        }
        peers.connect();
        for (Server server : servers) {
            server.start();
        }
        serving = List.copyOf(servers);
        final IllegalStateException earlier = shutdown.reason();
        if (earlier != null) {
            serving.forEach(server -> server.fail(earlier));
        }
        manager.start();
        checkpoints.start(servers, errors);
        faults.watch(clock, context.scheduling(), errors);
    }

    /** Ends all agents without touching the areas: only then may files and lock be released. */
    private void abandon(Throwable failure) {
        StoreFiles.suppress(failure, faults::close);
        StoreFiles.suppress(failure, manager::close);
        StoreFiles.suppress(failure, checkpoints::abandon);
        servers.forEach(server -> StoreFiles.suppress(failure, server::abandon));
        StoreFiles.suppress(failure, fabric::close);
    }

    /**
     * Stops service: an area cannot be forced or is lost, or an agent was stopped. No server acknowledges anything,
     * since every shard may need the failed part. Thread-safe; does not wait, since an agent may call it within its
     * duty cycle.
     */
    private void stopServing(IllegalStateException found) {
        final IllegalStateException why = shutdown.add(found);
        // Refuse everywhere first: a caller that receives the failure from one server must not be answered by another.
        serving.forEach(server -> server.refuse(why));
        serving.forEach(server -> server.fail(why));
    }

    /** All clients of an embedded store live in its JVM, so the sessions of an earlier process are over. */
    private void closeOldSessions() {
        final Request request = new Request();
        for (int shard = 0; shard < manager.inForce().shardCount(); shard++) {
            final int primary = manager.inForce().shard(shard).primary();
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
                "Store open dir={} servers={} replicas={} capacity={} objects={} durability={} term={} checkpointed={}"
                        + " read={} torn={} scattered={} ms={}",
                settings.dir() == null ? "none" : settings.dir(),
                settings.shape().servers(),
                settings.shape().replicas(),
                settings.capacityBytes(),
                objects(),
                durability(),
                manager.inForce().term(),
                checkpoints.statistics().objects(),
                entries,
                torn,
                scattered,
                tookNs / 1_000_000);
    }

    /** Objects on their primaries, without remembered deletions. */
    private long objects() {
        final Configuration now = manager.inForce();
        long objects = 0;
        for (int shard = 0; shard < now.shardCount(); shard++) {
            final ShardReplica primary =
                    servers.get(now.shard(shard).primary()).replicas().get(shard);
            objects += primary.index().count() - primary.deletions().size();
        }
        return objects;
    }

    private long deadlineNs() {
        return settings.deadlineMs() * 1_000_000;
    }

    public EmbeddedSettings settings() {
        return settings;
    }

    /** The stored configuration; a later one than all servers follow, for a moment. */
    public Configuration configuration() {
        return manager.newest();
    }

    EmbeddedConfigurationManager manager() {
        return manager;
    }

    /**
     * Makes another server the primary of a shard, while all operations go on; returns at once. A clean close lets it come
     * to its end if it has begun. The next start gives the shard to its usual primary again.
     *
     * @param to holds a complete replica, else this is refused
     */
    public Transfer transfer(int shard, int to) {
        Objects.checkIndex(shard, configuration().shardCount());
        Objects.checkIndex(to, servers.size());
        return manager.transfer(shard, to);
    }

    EmbeddedCatalogue catalogue() {
        return caches;
    }

    /** For tools: replaces caches' contents. No client may have such a cache open. */
    public SpareContents spares() {
        return caches;
    }

    /** The one in-process session; shared by all clients, which never close it. */
    public Session session() {
        return session;
    }

    /** What an acknowledged write survives: {@code none}, {@code process} or {@code power}. */
    public String durability() {
        return settings.shape().durability().parameter();
    }

    /** For checkers. */
    public List<Server> servers() {
        return Collections.unmodifiableList(servers);
    }

    public @Nullable Path dir() {
        return settings.dir();
    }

    /** Releases space that workers have reserved in advance. False while any worker is not idle. */
    public boolean releaseGrants() {
        return peers.releaseGrants();
    }

    /** Server {@code to} fences server {@code from} off its backup log; {@code from} reconnects at its next write. */
    public void fenceLink(int from, int to) {
        servers.get(to).fence(from);
    }

    public List<ServerStatistics> statistics() {
        final List<ServerStatistics> statistics = new ArrayList<>();
        servers.forEach(server -> statistics.add(server.statistics()));
        return Collections.unmodifiableList(statistics);
    }

    /** Checkpoint counters since the start. */
    public CheckpointStatistics checkpoints() {
        return checkpoints.statistics();
    }

    /** Failures of agents and links, and invalid entries, since the start. */
    public ErrorLog errors() {
        return errors;
    }

    /** {@link #snapshot(Path, SnapshotProgress)} without progress reports. */
    public SnapshotOutcome snapshot(Path target) {
        return snapshot(target, SnapshotProgress.NONE);
    }

    /**
     * Copies the store to a directory while it is in use. The copy opens like any other store, at any durability level,
     * and holds a consistent cut: every operation acknowledged before this call, none that began after its return, and
     * of each shard all operations up to one version and no later one. Limits and caches belong to the same moment.
     *
     * <p>The caller waits; an interrupt does not shorten the wait. Nothing else waits, except briefly creation and
     * removal of caches. If the store is nearly full and the target is slow, writes have priority and the copy is
     * abandoned.
     *
     * <p>Copy and original have the same identity: open the copy when the original is gone, or apart from it.
     *
     * @param target a missing or empty directory outside of the store's own
     * @throws org.rowankv.server.area.StoreOpenException if the copy fails, with the cause; the target is unchanged
     */
    public SnapshotOutcome snapshot(Path target, SnapshotProgress progress) {
        return reading.snapshot(target, progress);
    }

    /**
     * Compares the replicas of every shard while the store is in use. For each replica it computes a digest of keys,
     * versions, values and expiries, up to one version of the shard, the same for all. Only the caller waits.
     *
     * @throws org.rowankv.server.area.StoreOpenException if the comparison is impossible now, with the cause
     */
    public LiveReplicaReport verifyReplicas() {
        return reading.compareReplicas();
    }

    /** Servers whose replicas became complete since the start. */
    public int joinsCompleted() {
        return manager.joinsCompleted();
    }

    /**
     * Waits until all landed entries are digested, every clear is swept, and every cache is within its limit. This
     * includes entries that arrive meanwhile. Ends early when the store fails.
     *
     * @throws RowanException OUTCOME_UNKNOWN if the deadline of the settings passes first
     */
    public void awaitDigested() {
        digestBarrier.await();
    }

    /**
     * Releases threads, files and the lock of the directory, whatever has failed; but the lock if a caller's operation
     * does not end, which may still write.
     *
     * @throws IllegalStateException if one does not
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        reading.close();
        manager.mayNotMove();
        final boolean unused = manager.awaitStill(new WaitLimit(context.clocks().apply(0), deadlineNs()), () -> false);
        faults.close();
        session.close();
        if (shutdown.closing() == StoreShutdown.CloseMode.UNTOUCHED) {
            closeUntouched();
            return;
        }
        final IllegalStateException inUse;
        try {
            servers.forEach(Server::close);
            inUse = whyInUse();
            if (inUse == null) {
                endServers();
            }
        } catch (RuntimeException | Error e) {
            abandon(e);
            files.closeAfterFailure(e);
            throw e;
        }
        if (inUse != null) {
            abandon(inUse);
            files.closeInUse(inUse);
            throw inUse;
        }
        // All agents have ended: no failure can be added.
        final IllegalStateException why = shutdown.reason();
        if (why != null && shutdown.closing() != StoreShutdown.CloseMode.CLEAN) {
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
        final IllegalStateException lost = Objects.requireNonNull(shutdown.reason());
        manager.close();
        checkpoints.abandon();
        servers.forEach(Server::abandon);
        files.closeAfterFailure(lost);
    }

    private @Nullable IllegalStateException whyInUse() {
        return servers.stream()
                .map(server -> server.requests().whyInUse())
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private void endServers() {
        if (!digestBarrier.isOverInTime()) {
            LOG.warn(
                    "ROWAN-2007 backup logs not digested within {} ms: the next start recovers their entries",
                    settings.deadlineMs());
        }
        manager.close();
        if (shutdown.closing() == StoreShutdown.CloseMode.CLEAN) {
            checkpoints.stop(servers);
        } else {
            checkpoints.abandon();
        }
        servers.forEach(Server::stopAgents);
        servers.forEach(Server::stop);
        fabric.close();
    }

    /** Admits the servers that have started. Later terms change neither members nor incarnations. */
    private record StartedMembers(Configuration started) implements MembershipView {
        @Override
        public long term() {
            return started.term();
        }

        @Override
        public long startTerm() {
            return started.startTerm();
        }

        @Override
        public boolean admits(int serverId, long incarnation, long term) {
            return term >= started.term() && started.names(serverId, incarnation);
        }
    }
}
