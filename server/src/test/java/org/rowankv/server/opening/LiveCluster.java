package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.MembershipView;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.LiveBytes;
import org.rowankv.server.embedded.Stores;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerContext;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.server.resync.PresentEntries;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/**
 * Servers in this JVM whose configuration changes while they run. One thread runs all of them, step by step; a server
 * that is stopped does nothing any more.
 */
final class LiveCluster implements AutoCloseable {
    static final int CACHE = 1;
    static final int SHARDS = 6;
    private static final int SEED = 11;
    private static final int SEGMENT = 64 << 10;
    private static final int CAPACITY = 4 << 20;
    private static final int MOST_STEPS = 20_000;

    final ManualClock clock = new ManualClock(1, 1_000_000);
    final GatedFabric fabric = new GatedFabric();
    final ErrorLog errors = new ErrorLog(clock);
    final List<Server> servers = new ArrayList<>();
    /** Shards that were opened, as {@code server:shard}. */
    final List<String> opened = new ArrayList<>();

    private final List<AgentInvoker> agents = new ArrayList<>();
    private final Set<Integer> stopped = new HashSet<>();
    private final Set<Integer> asleep = new HashSet<>();
    private final List<Set<Integer>> fenced = new ArrayList<>();
    private final Deque<Delivery> deliveries = new ArrayDeque<>();
    private UnaryOperator<@Nullable Delivery> network = UnaryOperator.identity();
    private Configuration configuration;
    private long lastSession;
    /** Whether a replica that joins says what it has: else all is copied. */
    private boolean answersInventories = true;

    /** A message under way. */
    record Delivery(int from, int to, OpeningMessage message) {}

    LiveCluster(int serverCount) {
        this(serverCount, Set.of());
    }

    /** Every server holds a replica of every shard. Some, the last ones, will {@link #join}, and get copies at a low rate. */
    LiveCluster(int serverCount, Set<Integer> joining) {
        configuration = Configuration.initial(
                7,
                SEED,
                serverCount - joining.size(),
                serverCount - joining.size(),
                SHARDS,
                IntStream.range(0, serverCount).mapToObj(i -> 1L).toList());
        for (int server = 0; server < serverCount; server++) {
            fenced.add(new HashSet<>());
        }
        for (int server = 0; server < serverCount; server++) {
            open(server, joining.contains(server));
        }
        servers.forEach(Server::start);
    }

    /** From now on a joining replica gets all that a primary has, also what it has already. */
    void copyEverything() {
        answersInventories = false;
    }

    private void open(int id, boolean isJoining) {
        final Area area = Area.create(
                new AreaSettings(null, CAPACITY, SEGMENT, id, 7, SHARDS, Durability.NONE),
                new SplittableRandomSource(id));
        final ServerSettings settings = ServerSettings.of(area.segmentCount(), 2, true, with -> {
            with.mutationsPerWorker = 4;
            with.postedAhead = 8;
            with.copyBytesPerSecond = 100_000;
        });
        final Segments segments = new Segments(
                area,
                new SplittableRandomSource(id + 20),
                settings.cleanerReserve(),
                settings.spaceLimit(area.segmentCount(), SEGMENT, configuration.mostReplicas()));
        final ShardReplica[] replicas = new ShardReplica[SHARDS];
        for (int shard = 0; shard < SHARDS; shard++) {
            if (isJoining || configuration.shard(shard).isReplica(id)) {
                replicas[shard] = new ShardReplica(shard, SHARDS, new KeyHash(SEED), segments, isJoining ? 2 : 1);
                if (isJoining) {
                    replicas[shard].beginJoining();
                }
            }
        }
        final RecoveredServer recovered = new RecoveredServer(id, segments, new Replicas(replicas), true, errors);
        recovered.scan(1, clock, null);
        recovered.finish();
        final Server server = new ServerContext(
                        settings,
                        segments,
                        recovered.replicas(),
                        configuration,
                        clock,
                        new Steps(),
                        ThreadingMode.SHARED,
                        errors,
                        new Pressure(),
                        new Copies(),
                        shards -> null,
                        AnswerPermit.ALWAYS,
                        List.of())
                .open(id, fabric, new View(fenced.get(id)));
        servers.add(server);
        server.roleChanges().openings().use((to, message) -> send(id, to, message));
        server.roleChanges().openings().report((shard, epoch) -> opened.add(id + ":" + shard));
    }

    // --- running ---

    private final class Steps implements Scheduling {
        @Override
        public AgentHandle take(Agent agent, ErrorLog errorLog) {
            final AgentInvoker invoker = new AgentInvoker(agent, errorLog);
            agents.add(invoker);
            return invoker;
        }

        @Override
        public void park(long ns) {
            step();
        }

        @Override
        public boolean isOneAtATime() {
            return true;
        }
    }

    /** Runs each server once, and delivers what is under way. */
    void step() {
        clock.advanceNs(250_000);
        for (int server = 0; server < servers.size(); server++) {
            if (!stopped.contains(server) && !asleep.contains(server)) {
                run(server);
            }
        }
        deliver();
    }

    /** Delivers the messages under way. */
    void deliver() {
        clock.advanceNs(250_000);
        for (int count = deliveries.size(); count > 0; count--) {
            final Delivery next = deliveries.remove();
            if (!stopped.contains(next.to) && !stopped.contains(next.from)) {
                servers.get(next.to).roleChanges().openings().received(next.from, next.message);
            }
        }
    }

    /** Runs one server once. */
    void run(int server) {
        agents.stream()
                .filter(each -> each.agent().roleName().equals("server-" + server))
                .forEach(AgentInvoker::tryInvoke);
    }

    void step(int times) {
        for (int i = 0; i < times; i++) {
            step();
        }
    }

    /** Runs everything until the condition holds. */
    void stepUntil(java.util.function.BooleanSupplier condition) {
        for (int i = 0; i < MOST_STEPS && !condition.getAsBoolean(); i++) {
            step();
        }
        assertThat(condition.getAsBoolean()).as("after %d steps", MOST_STEPS).isTrue();
    }

    /** Runs everything until all that has landed is digested and covered by CommitVer. */
    void settle() {
        step(10);
        stepUntil(() -> alive().stream()
                .allMatch(server -> servers.get(server).replicas().all().stream()
                        .allMatch(replica -> replica.tail().size() == 0)));
        step(200);
    }

    /** The server does nothing, and nothing lands there beyond what is posted. */
    void sleep(int server) {
        asleep.add(server);
    }

    void awake(int server) {
        asleep.remove(server);
    }

    List<Integer> alive() {
        return IntStream.range(0, servers.size())
                .filter(server -> !stopped.contains(server))
                .boxed()
                .toList();
    }

    // --- messages ---

    private void send(int from, int to, OpeningMessage message) {
        final ByteBuffer bytes = message.encoded();
        assertThat(OpeningMessage.whyInvalid(bytes)).isNull();
        final Delivery passed = network.apply(new Delivery(from, to, OpeningMessage.decoded(bytes)));
        if (passed != null) {
            deliveries.add(passed);
        }
    }

    /** From now on messages pass through this, which may change or lose them. */
    void network(UnaryOperator<@Nullable Delivery> by) {
        network = by;
    }

    // --- configurations ---

    Configuration configuration() {
        return configuration;
    }

    Server primary(int shard) {
        return servers.get(configuration.shard(shard).primary());
    }

    /** The server ends, and its memory with it. */
    void stop(int server) {
        stopped.add(server);
    }

    /** The next configuration, without those servers; shards that lose their primary prefer that one. */
    Configuration excluding(int preferred, Integer... excluded) {
        final Set<Integer> without = new HashSet<>(configuration.excluded());
        without.addAll(Set.of(excluded));
        return change(without, shard -> {
            final ShardAssignment left = shard.excluding(Set.of(excluded), preferred);
            assertThat(left).isNotNull();
            return left;
        });
    }

    /** That server becomes a joining backup of every shard. */
    void join(int server) {
        final Set<Integer> without = new HashSet<>(configuration.excluded());
        without.remove(server);
        adopt(change(without, shard -> shard.adding(server)));
    }

    /** The next configuration, in which that server is the primary of a shard of which it was a backup. */
    Configuration handingOver(int shard, int server) {
        configuration = configuration.handedOver(Map.of(shard, server));
        return configuration;
    }

    /** The next configuration, in which that server hands over all shards of which it is the primary. */
    Configuration handingOverAll(int server) {
        final Map<Integer, Integer> primaries = new HashMap<>();
        configuration
                .primariesOf(server)
                .forEach(
                        shard -> primaries.put(shard, configuration.shard(shard).backups()[0]));
        configuration = configuration.handedOver(primaries);
        return configuration;
    }

    /** The next configuration, in which that server, primary of nothing, is a backup of nothing either. */
    Configuration withoutBackup(int server) {
        configuration = configuration.withoutBackups(Set.of(server));
        return configuration;
    }

    Configuration change(UnaryOperator<ShardAssignment> each) {
        return change(configuration.excluded(), each);
    }

    private Configuration change(Set<Integer> excluded, UnaryOperator<ShardAssignment> each) {
        configuration = new Configuration(
                7,
                SEED,
                configuration.term() + 1,
                configuration.incarnations(),
                configuration.shards().stream().map(each).toList(),
                configuration.term() + 1,
                Configuration.NO_MANAGER,
                excluded);
        return configuration;
    }

    /** That server fences off those that have no role any more, and prepares. */
    void prepare(int server, Configuration next) {
        for (int other = 0; other < servers.size(); other++) {
            final int one = other;
            if (next.shards().stream().noneMatch(shard -> shard.isReplica(one))) {
                if (fenced.get(server).add(one)) {
                    servers.get(server).roleChanges().exclude(one);
                }
            }
        }
        servers.get(server).roleChanges().prepared(next);
    }

    void commit(int server, Configuration next) {
        servers.get(server).roleChanges().committed(next);
    }

    /** All servers that live prepare and commit. */
    void adopt(Configuration next) {
        alive().forEach(server -> prepare(server, next));
        alive().forEach(server -> commit(server, next));
    }

    boolean isOpen(int shard) {
        return primary(shard).isPrimary(shard);
    }

    boolean isAllOpen() {
        return IntStream.range(0, SHARDS).allMatch(this::isOpen);
    }

    // --- requests ---

    /** A key of that shard; different for each number. */
    static byte[] key(int shard, int number) {
        final KeyHash hash = new KeyHash(SEED);
        int found = 0;
        for (int i = 0; ; i++) {
            final byte[] key = Stores.bytes("key" + i);
            if (ShardMap.shardOf(hash.hash(CACHE, key, 0, key.length), SHARDS) == shard && found++ == number) {
                return key;
            }
        }
    }

    static Request place(Request request) {
        final long hash =
                new KeyHash(SEED).hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(hash, ShardMap.shardOf(hash, SHARDS));
        return request;
    }

    static Request put(byte[] key, byte[] value) {
        return place(new Request().put(CACHE, key, 0, key.length, value, 0, value.length));
    }

    static Request delete(byte[] key) {
        return place(new Request().delete(CACHE, key, 0, key.length));
    }

    static Request get(byte[] key) {
        return place(new Request().get(CACHE, key, 0, key.length));
    }

    /** Begins a request at its shard's primary. */
    PollableCall begin(Request request) {
        final PollableCall call = primary(request.shard()).requests().stepped(request);
        return call;
    }

    /** Executes a request at its shard's primary. */
    Request call(Request request) {
        final PollableCall call = begin(request);
        for (int i = 0; i < MOST_STEPS; i++) {
            if (call.step()) {
                return request;
            }
            step();
        }
        throw new AssertionError("no answer: " + request.operation());
    }

    /** Requires that it is done. */
    Request ok(Request request) {
        assertThat(call(request).status()).isEqualTo(Status.OK);
        return request;
    }

    byte @Nullable [] value(byte[] key) {
        return call(get(key)).resultBytes();
    }

    /** Opens a session at a shard; returns its id. */
    long session(int shard) {
        final long id = ++lastSession;
        final Request request = new Request();
        call(request.openSession(shard, id, 0));
        ok(request.openSession(shard, id, request.version()));
        return id;
    }

    // --- comparisons ---

    /** All replicas of living servers hold the same, and no error was reported. */
    void requireAgreement() {
        settle();
        for (int shard = 0; shard < SHARDS; shard++) {
            final Server primary = primary(shard);
            for (int backup : configuration.shard(shard).backups()) {
                final String where = "shard " + shard + " of " + primary.serverId() + " on " + backup;
                assertThat(Stores.objects(servers.get(backup), shard))
                        .as(where)
                        .isEqualTo(Stores.objects(primary, shard));
                requireResponses(where, sessions(primary, shard), sessions(servers.get(backup), shard));
            }
        }
        assertThat(reported()).isEmpty();
        agents.forEach(agent -> assertThat(agent.isClosed()).isFalse());
    }

    /** Only the primary learns that a response was received from a request that writes nothing: a backup may have more. */
    private static void requireResponses(String where, Map<Long, List<String>> of, Map<Long, List<String>> found) {
        assertThat(found.keySet()).as("sessions of " + where).isEqualTo(of.keySet());
        of.forEach((session, responses) -> assertThat(found.get(session))
                .as("responses in session %d of %s", session, where)
                .containsAll(responses));
    }

    /** Errors but those of connections to and from servers that ended. */
    List<String> reported() {
        return errors.distinct().stream()
                .map(Object::toString)
                .filter(each -> !each.contains("FabricException"))
                .toList();
    }

    /** By session, the responses of its requests. */
    static Map<Long, List<String>> sessions(Server server, int shard) {
        final Map<Long, List<String>> sessions = new TreeMap<>();
        for (SessionImage session : server.replicas().get(shard).sessions().images()) {
            sessions.put(
                    session.sessionId(),
                    session.answers().stream()
                            .map(answer -> answer.sequence() + ": " + answer.version() + " after "
                                    + answer.previousVersion() + " with " + answer.bits())
                            .sorted()
                            .toList());
        }
        return sessions;
    }

    /** Workers give back what they have acquired in advance. */
    void releaseGrants() {
        stepUntil(() -> alive().stream()
                .allMatch(server -> servers.get(server).spaceRequests().releaseGrants()));
        step(10);
    }

    /** Of each living server all space is accounted for: what servers that ended had acquired is free again. */
    void requireExactSpace() {
        releaseGrants();
        settle();
        for (int id : alive()) {
            final Segments segments = servers.get(id).segments();
            assertThat(segments.space().limit() - segments.space().available())
                    .as("space taken on server %d", id)
                    .isEqualTo(new LiveBytes(servers.get(id)).count());
        }
    }

    @Override
    public void close() {
        fabric.close();
    }

    /** Admits all servers of any term but those that are fenced off. */
    private record View(Set<Integer> excluded) implements MembershipView {
        @Override
        public long term() {
            return 0;
        }

        @Override
        public long startTerm() {
            return 0;
        }

        @Override
        public boolean admits(int server, long incarnation, long term) {
            return !excluded.contains(server);
        }
    }

    private final class Pressure implements SpacePressure {
        @Override
        public void wakeUp(int server) {
            // All are stepped.
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

    private final class Copies implements CopyListener {
        @Override
        public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
            return servers.get(server).joining().announced(shard, epoch, bytes, destroyed);
        }

        @Override
        public boolean copied(int shard, int epoch, int server) {
            return servers.get(server).joining().copied(shard, epoch);
        }

        @Override
        public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
            final BitSet held = PresentEntries.presentIn(
                    servers.get(server).replicas().get(shard),
                    servers.get(server).segments(),
                    question);
            return Inquiry.over(answersInventories ? held : null);
        }

        @Override
        public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
            return true;
        }
    }

    /** A value of that length. */
    static byte[] bytes(int length, int fill) {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte) fill);
        return value;
    }
}
