package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.local.LocalFabricSettings;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.server.resync.PresentEntries;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/**
 * Servers in this JVM whose roles a test changes while they serve: it prepares and commits configurations, as a manager
 * does, and ends servers. At first server 0 and 1 hold all shards, and the others none.
 */
final class RunningServers implements AutoCloseable {
    static final int SHARDS = 4;
    static final int SERVERS = 3;
    static final int CACHE = 3;
    private static final int SEGMENT = 64 << 10;
    private static final int CAPACITY = 96 * SEGMENT;
    private static final long CLUSTER = 5;
    private static final KeyHash HASH = new KeyHash(11);

    private final Scheduling scheduling;
    private final Clock clock;
    private final long copyBytesPerSecond;
    private final LocalFabric fabric;
    private final ErrorLog errors;
    private final List<Server> servers = new ArrayList<>();
    private final Map<Integer, Endpoint> endpoints = new ConcurrentHashMap<>();
    private final Set<Integer> dead = ConcurrentHashMap.newKeySet();
    /** By server: the shards that it has reported as complete. */
    private final Map<Integer, SortedMap<Integer, Integer>> complete = new ConcurrentHashMap<>();

    private volatile Configuration configuration;
    private volatile boolean holdsCopied;

    RunningServers(Scheduling scheduling, Clock clock, long copyBytesPerSecond) {
        this.scheduling = scheduling;
        this.clock = clock;
        this.copyBytesPerSecond = copyBytesPerSecond;
        this.errors = new ErrorLog(clock);
        this.fabric = new LocalFabric(LocalFabricSettings.of(with -> {
            with.maxMessage = 1024;
            with.keepsReserve = true;
        }));
        final List<ShardAssignment> shards = new ArrayList<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            shards.add(new ShardAssignment(1, shard % 2, new int[] {1 - shard % 2}));
        }
        this.configuration = new Configuration(CLUSTER, 11, 1, List.of(1L, 1L, 1L), shards);
        IntStream.range(0, SERVERS).forEach(id -> servers.add(opened(id)));
        servers.forEach(Server::start);
    }

    private Server opened(int id) {
        final int count = CAPACITY / SEGMENT;
        final ServerSettings settings =
                ServerSettings.of(count, 2, true, with -> with.copyBytesPerSecond = copyBytesPerSecond);
        final Area area = Area.create(
                new AreaSettings(null, CAPACITY, SEGMENT, id, CLUSTER, SHARDS, Durability.NONE),
                new SplittableRandomSource(id));
        final long incarnation = configuration.incarnations().get(id);
        area.superblock().startIncarnation(incarnation);
        final Segments segments = new Segments(
                area,
                new SplittableRandomSource(incarnation * 100 + id),
                settings.cleanerReserve(),
                settings.spaceLimit(count, SEGMENT, SHARDS),
                settings.counters());
        final @Nullable ShardReplica[] replicas = new @Nullable ShardReplica[SHARDS];
        for (int shard = 0; shard < SHARDS; shard++) {
            if (configuration.shard(shard).isComplete(id)) {
                area.tenures().set(shard, 1);
                replicas[shard] = new ShardReplica(shard, SHARDS, HASH, segments, 1);
            }
        }
        final RecoveredServer recovered = new RecoveredServer(id, segments, new Replicas(replicas), true, errors);
        recovered.scan(1, clock, null);
        recovered.finish();
        final ServerContext parts = new ServerContext(
                settings,
                segments,
                recovered.replicas(),
                configuration,
                clock,
                scheduling,
                ThreadingMode.DEDICATED,
                errors,
                new Pressure(),
                new Copies(),
                shards -> null,
                AnswerPermit.ALWAYS,
                List.of());
        final EndpointSettings endpoint = ServerContext.endpointSettings(
                id, settings, segments, incarnation, CLUSTER, (from, remote, message) -> {}, new View());
        final Server opened = new Server(
                parts,
                endpoint,
                asked -> {
                    final Endpoint made = fabric.open(asked);
                    endpoints.put(id, made);
                    return made;
                },
                fabric.capabilities());
        opened.deadline(20_000_000_000L);
        opened.roleChanges().openings().use((to, message) -> {
            if (isAlive(id) && isAlive(to)) {
                servers.get(to).roleChanges().openings().received(id, message);
            }
        });
        return opened;
    }

    private void wakeUp(int server) {
        if (server < servers.size()) {
            servers.get(server).wakeUp();
        }
    }

    private final class View implements MembershipView {
        @Override
        public long term() {
            return 1;
        }

        @Override
        public long startTerm() {
            return 1;
        }

        @Override
        public boolean admits(int serverId, long incarnation, long term) {
            return configuration.incarnations().get(serverId) == incarnation && !dead.contains(serverId);
        }
    }

    private final class Copies implements CopyListener {
        @Override
        public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
            return isAlive(server) && servers.get(server).joining().announced(shard, epoch, bytes, destroyed);
        }

        @Override
        public boolean copied(int shard, int epoch, int server) {
            return isAlive(server)
                    && !holdsCopied
                    && servers.get(server).joining().copied(shard, epoch);
        }

        @Override
        public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
            final BitSet held = PresentEntries.presentIn(
                    servers.get(server).replicas().get(shard),
                    servers.get(server).segments(),
                    question);
            return Inquiry.over(held);
        }

        @Override
        public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
            complete.put(server, epochs);
            return epochs.keySet().stream()
                    .noneMatch(shard -> configuration.shard(shard).isJoining(server));
        }
    }

    private final class Pressure implements SpacePressure {
        @Override
        public void wakeUp(int server) {
            RunningServers.this.wakeUp(server);
        }

        @Override
        public void requestSpace(int server) {
            servers.get(server).spaceRequests().requestSpace();
        }

        @Override
        public boolean isExpiring(long sinceNs) {
            return false;
        }

        @Override
        public long quietCycles(int server) {
            return servers.get(server).quietCycles();
        }
    }

    Server server(int id) {
        return servers.get(id);
    }

    Configuration configuration() {
        return configuration;
    }

    /** Nothing has failed but connections to servers that were killed. */
    void requireNoErrors() {
        assertThat(errors.distinct())
                .filteredOn(each -> !each.type().equals(FabricException.class.getName()))
                .isEmpty();
    }

    boolean isAlive(int id) {
        return !dead.contains(id);
    }

    /** Whether joining servers do not hear that their copies have landed. */
    void holdCopied(boolean holds) {
        holdsCopied = holds;
    }

    void pause() {
        scheduling.park(1_000_000);
    }

    // --- configurations ---

    private Configuration with(List<Long> incarnations, List<ShardAssignment> shards) {
        return new Configuration(CLUSTER, 11, configuration.term() + 1, incarnations, shards);
    }

    /** The next one, in which that server is a joining backup of all shards that it does not hold. */
    Configuration adding(int id) {
        return with(
                configuration.incarnations(),
                configuration.shards().stream()
                        .map(shard -> shard.isReplica(id) ? shard : shard.adding(id))
                        .toList());
    }

    /** The same roles in the next term. */
    Configuration same() {
        return with(configuration.incarnations(), configuration.shards());
    }

    /** The next one, in which that server has no role. */
    Configuration excluding(int id, int preferred) {
        return with(
                configuration.incarnations(),
                configuration.shards().stream()
                        .map(shard -> {
                            final ShardAssignment left = shard.excluding(Set.of(id), preferred);
                            assertThat(left)
                                    .as("a complete replica of %s", shard)
                                    .isNotNull();
                            return left;
                        })
                        .toList());
    }

    /** The next one, which says of what was reported as complete that it is. */
    Configuration joined(int id) {
        final SortedMap<Integer, Integer> epochs = complete.get(id);
        final List<ShardAssignment> shards = new ArrayList<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            final ShardAssignment before = configuration.shard(shard);
            final Set<Integer> joining = new HashSet<>(before.joining());
            if (epochs != null && Integer.valueOf(before.epoch()).equals(epochs.get(shard))) {
                joining.remove(id);
            }
            shards.add(new ShardAssignment(before.epoch(), before.primary(), before.backups(), joining));
        }
        return with(configuration.incarnations(), shards);
    }

    boolean isReported(int id) {
        return isReported(id, SHARDS);
    }

    /** Whether that server has reported so many shards as complete in their present epochs. */
    boolean isReported(int id, int shards) {
        final SortedMap<Integer, Integer> epochs = complete.get(id);
        return epochs != null
                && epochs.entrySet().stream()
                                .filter(each ->
                                        configuration.shard(each.getKey()).epoch() == each.getValue())
                                .count()
                        >= shards;
    }

    void awaitReported(int id) {
        while (!isReported(id)) {
            pause();
        }
    }

    /** All servers that live prepare it, and then have it in force; false if one of them has stopped instead. */
    boolean adopt(Configuration next) {
        if (!prepare(next)) {
            return false;
        }
        commit(next);
        return true;
    }

    private boolean prepare(Configuration next) {
        final Configuration before = configuration;
        configuration = next;
        for (Server server : living()) {
            while (!server.joining().join(next)) {
                if (server.isStopped()) {
                    return false;
                }
                server.wakeUp();
                pause();
            }
            for (int other = 0; other < SERVERS; other++) {
                if (dead.contains(other) && isReplica(before, other) && !isReplica(next, other)) {
                    server.fence(other); // this fabric keeps no account of its credit
                }
            }
            server.roleChanges().prepared(next);
        }
        return true;
    }

    private static boolean isReplica(Configuration configuration, int server) {
        return configuration.shards().stream().anyMatch(shard -> shard.isReplica(server));
    }

    private void commit(Configuration next) {
        living().forEach(server -> server.roleChanges().committed(next));
        for (Server server : living()) {
            while (!next.primariesOf(server.serverId()).stream().allMatch(server::isPrimary) && !server.isStopped()) {
                server.wakeUp();
                pause();
            }
        }
    }

    List<Server> living() {
        return servers.stream().filter(server -> isAlive(server.serverId())).toList();
    }

    void awaitDigested(Server server) {
        final long digested = server.digestCycles() + 2;
        while (server.digestCycles() < digested) {
            server.wakeUp();
            pause();
        }
    }

    /** The process ends: nothing of it runs any more, and its memory is gone. */
    void kill(int id) {
        dead.add(id);
        final Server killed = servers.get(id);
        killed.fail(new IllegalStateException("killed"));
        killed.abandon();
        endpoints.get(id).close();
    }

    /** Another process of a server that was killed. It has no roles, and nothing in its area. */
    void restart(int id) {
        complete.remove(id);
        final List<Long> incarnations = new ArrayList<>(configuration.incarnations());
        incarnations.set(id, incarnations.get(id) + 1);
        configuration = with(incarnations, configuration.shards());
        dead.remove(id);
        servers.set(id, opened(id));
        servers.get(id).start();
        assertThat(adopt(with(incarnations, configuration.shards()))).isTrue();
    }

    // --- requests ---

    static Request put(Request request, String key, byte[] value) {
        final byte[] bytes = Stores.bytes(key);
        return placed(request.put(CACHE, bytes, 0, bytes.length, value, 0, value.length), bytes);
    }

    static Request delete(Request request, String key) {
        final byte[] bytes = Stores.bytes(key);
        return placed(request.delete(CACHE, bytes, 0, bytes.length), bytes);
    }

    static int shardOf(String key) {
        final byte[] bytes = Stores.bytes(key);
        return ShardMap.shardOf(HASH.hash(CACHE, bytes, 0, bytes.length), SHARDS);
    }

    private static Request placed(Request request, byte[] key) {
        final long hash = HASH.hash(CACHE, key, 0, key.length);
        request.placed(hash, ShardMap.shardOf(hash, SHARDS));
        return request;
    }

    /** Calls the primary; false if it has ended, or is none any more, and the request may have taken effect or not. */
    boolean call(Request request) {
        final int primary = configuration.shard(request.shard()).primary();
        try {
            servers.get(primary).requests().call(request);
        } catch (NotServedException e) {
            return false;
        }
        return request.status() == Status.OK || request.status() == Status.NOT_FOUND;
    }

    void requireOk(Request request) {
        assertThat(call(request)).as("answered %s", request.status()).isTrue();
    }

    @Nullable
    byte[] get(String key) {
        final byte[] bytes = Stores.bytes(key);
        final Request request = placed(new Request().get(CACHE, bytes, 0, bytes.length), bytes);
        requireOk(request);
        return request.status() == Status.NOT_FOUND
                ? null
                : java.util.Arrays.copyOf(request.result(), request.resultLength());
    }

    // --- what must hold ---

    /** All replicas of living servers hold the same objects. No writer runs meanwhile. */
    void requireAgreement() {
        living().forEach(this::awaitDigested);
        for (int shard = 0; shard < SHARDS; shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final Map<String, String> primary = Stores.objects(servers.get(assignment.primary()), shard);
            for (int backup : assignment.backups()) {
                assertThat(Stores.objects(servers.get(backup), shard))
                        .as("shard %d on server %d", shard, backup)
                        .isEqualTo(primary);
            }
        }
    }

    /** The space that is taken on each living server is that of its live entries. */
    void requireExactSpace() {
        for (Server server : living()) {
            long taken = -1;
            long live = 0;
            for (int i = 0; i < 2000 && taken != live; i++) {
                living().forEach(each -> each.spaceRequests().releaseGrants());
                awaitDigested(server);
                final Segments segments = server.segments();
                taken = segments.space().limit() - segments.space().available();
                live = new LiveBytes(server).count();
            }
            assertThat(taken).as("space taken on server %d", server.serverId()).isEqualTo(live);
        }
    }

    @Override
    public void close() {
        living().forEach(Server::close);
        living().forEach(Server::stopAgents);
        living().forEach(Server::stop);
        fabric.close();
    }
}
