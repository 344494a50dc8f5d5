package org.rowankv.server.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.BulkResult;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.MembershipView;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.topology.Configuration;

/** A server is lost while connected clients use it in every way: they wait, and get no exception. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class FailoverClientsTest {
    private static final int KEYS = 6;
    private static final int CALLERS = 3;
    private static final int BULK = 40;
    /** Far longer than a cluster needs, on any machine. */
    private static final long DEADLINE_NS = 60_000_000_000L;

    /** How a server is lost. */
    enum Loss {
        /** Its process ends: connections break, and are refused. */
        KILLED,
        /** It is cut off: connections stay, and nothing arrives. */
        SILENT,
        /** It stops in good order. */
        STOPPED;

        void of(ClusterBed.Member member) {
            switch (this) {
                case KILLED -> {
                    member.clients.refuse(true);
                    member.clients.cut();
                    member.kill();
                }
                case SILENT -> {
                    member.clients.silence();
                    member.kill();
                }
                default -> member.stop();
            }
        }
    }

    @TempDir
    Path dir;

    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> callers = new ArrayList<>();
    private final AtomicInteger raised = new AtomicInteger();
    private final AtomicInteger bulks = new AtomicInteger();
    private final AtomicInteger scans = new AtomicInteger();
    private final AtomicInteger catalogueCalls = new AtomicInteger();
    /** By key and version: the one operation that replaced it. */
    private final Map<String, String> replaced = new ConcurrentHashMap<>();

    private RowanClient client;
    private int cache;

    private void start(Runnable work) {
        final Thread thread = new Thread(work);
        thread.setUncaughtExceptionHandler((unused, failure) -> failures.add(failure));
        callers.add(thread);
        thread.start();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private Request raising(String key, VersionedValue found) {
        final byte[] next = bytes(Integer.toString(numberOf(found.value()) + 1));
        final Request put = new Request().put(cache, bytes(key), 0, key.length(), next, 0, next.length);
        return found.value() == null ? put.when(Condition.IF_ABSENT) : put.when(Condition.IF_VERSION, found.version());
    }

    private static int numberOf(byte[] value) {
        return value == null ? 0 : Integer.parseInt(new String(value, UTF_8));
    }

    /** Every version of a counter is replaced once, by the operation that had seen it: their order is that of versions. */
    private void take(String key, VersionedValue found, Request answered) {
        if (answered.status() == Status.OK) {
            final String seen = key + "@" + (found.value() == null ? 0 : found.version());
            final String other = replaced.putIfAbsent(seen, key + "@" + answered.version());
            if (other != null) {
                failures.add(new AssertionError(seen + " was replaced by " + other + " and " + answered.version()));
            }
            if (found.value() != null && answered.previousVersion() != found.version()) {
                failures.add(new AssertionError(seen + " is not what was replaced: " + answered.previousVersion()));
            }
            raised.incrementAndGet();
        } else if (answered.status() != Status.CONDITION_FAILED && answered.status() != Status.NOT_FOUND) {
            failures.add(new AssertionError(key + ": " + answered.status()));
        }
    }

    private void raiseAndWait(int from) {
        for (int i = from; !stopping.get(); i++) {
            final String key = "counter" + i % KEYS;
            final VersionedValue found = client.getVersioned(cache, bytes(key));
            final Request put = raising(key, found);
            client.execute(put);
            take(key, found, put);
        }
    }

    private void raiseWithoutWaiting(int from, CountDownLatch ended) {
        if (stopping.get()) {
            ended.countDown();
            return;
        }
        final String key = "counter" + from % KEYS;
        final Request get = new Request().get(cache, bytes(key), 0, key.length());
        client.executeAsync(get).whenComplete((read, unused) -> {
            if (read.status() != Status.OK && read.status() != Status.NOT_FOUND) {
                failures.add(new AssertionError("GET " + key + ": " + read.status()));
                ended.countDown();
                return;
            }
            final VersionedValue found = new VersionedValue(read.resultBytes(), read.version());
            client.executeAsync(raising(key, found)).whenComplete((put, alsoUnused) -> {
                take(key, found, put);
                raiseWithoutWaiting(from + 1, ended);
            });
        });
    }

    /** Its keys are its own: it reads what it wrote last. */
    private void writeBulks(int owner) {
        final List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < BULK; i++) {
            keys.add(bytes("bulk" + owner + "-" + i));
        }
        for (int round = 0; !stopping.get(); round++) {
            final byte[] value = bytes(Integer.toString(round));
            for (BulkResult each :
                    client.putAll(cache, keys, keys.stream().map(key -> value).toList())) {
                if (each.failure() != null) {
                    throw new AssertionError(each.failure());
                }
            }
            final int written = round;
            assertThat(client.getAll(cache, keys)).allMatch(found -> numberOf(found.value()) == written);
            bulks.incrementAndGet();
        }
    }

    /** Every object is there from before the first scan until the end. */
    private void scanAll() {
        while (!stopping.get()) {
            assertThat(scanned()).isEqualTo(KEYS + CALLERS * BULK);
            scans.incrementAndGet();
        }
    }

    private int scanned() {
        int scanned = 0;
        for (var scan = client.scan(cache, true); scan.hasNext(); scanned++) {
            assertThat(scan.next().value()).isNotEmpty();
        }
        return scanned;
    }

    private void askForCaches() {
        for (int i = 0; !stopping.get(); i++) {
            final String name = "other" + i % 10;
            final int id = client.catalogue().create(name, new byte[0]).id();
            assertThat(client.catalogue().find(name).id()).isEqualTo(id);
            assertThat(client.catalogue().evictions(id)).isZero();
            catalogueCalls.incrementAndGet();
        }
    }

    /** A subscriber that waits for the next change of each of its keys, some of which are in every shard. */
    private static final class Subscriber implements ChangeListener {
        private final Map<String, String> newest = new ConcurrentHashMap<>();

        @Override
        public void onChange(int shard, Change change) {
            newest.put(new String(change.key(), UTF_8), new String(change.value(), UTF_8));
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            // What a lost server had not delivered; its shards go on elsewhere.
        }

        boolean hasHeard(String value) {
            return newest.size() >= BULK && newest.values().stream().allMatch(value::equals);
        }
    }

    /** Writes them until it has heard of all, since changes may be lost with a server. */
    private void requireHeard(int watched, Subscriber subscriber, String value) {
        await().pollInterval(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(60))
                .until(() -> {
                    for (int i = 0; i < BULK; i++) {
                        client.put(watched, bytes("watched" + i), bytes(value));
                    }
                    return subscriber.hasHeard(value);
                });
    }

    private void awaitMore() {
        final int enough = raised.get() + 200;
        final int enoughBulks = bulks.get() + 3;
        final int enoughScans = scans.get() + 2;
        final int enoughCalls = catalogueCalls.get() + 2;
        await().pollInterval(Duration.ofMillis(10))
                .atMost(Duration.ofSeconds(120))
                .until(() -> !failures.isEmpty()
                        || raised.get() >= enough
                                && bulks.get() >= enoughBulks
                                && scans.get() >= enoughScans
                                && catalogueCalls.get() >= enoughCalls);
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Loss.class)
    void shouldLoseAndDoubleNothingAndFailNothing(Loss loss) throws InterruptedException {
        useWhile(bed -> {
            loss.of(bed.members.get(2));
            awaitMore();
            awaitMembers(bed.members.get(0), 2);
        });
    }

    private static void awaitMembers(ClusterBed.Member asked, int count) {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            final Configuration present = asked.server.configuration();
            return present != null && present.members().size() == count;
        });
    }

    private static PrimaryTransfer transfers(ClusterBed bed) {
        return new PrimaryTransfer(
                bed.store,
                "test",
                new SplittableRandomSource(5),
                SystemClock.INSTANCE,
                ThreadScheduling.INSTANCE::park);
    }

    @Test
    void shouldNotNoticeThatAllPrimariesAreHandedOverAndBack() throws InterruptedException {
        // With a longer lease: no server is excluded, even on a busy machine.
        useWhile(new ClusterBed(dir, 3, 2, 16 << 20), bed -> {
            final Configuration before = bed.configuration();
            final PrimaryTransfer transfers = transfers(bed);
            for (int round = 0; round < 2; round++) {
                for (int shard = 0; shard < before.shardCount(); shard++) {
                    final int to = bed.configuration().shard(shard).backups()[0];
                    assertThat(transfers.transfer(shard, to).shard(shard).primary())
                            .isEqualTo(to);
                    final int moved = shard;
                    await().until(() -> bed.server(to).isPrimary(moved));
                }
                awaitMore();
            }
            final Configuration after = bed.configuration();
            assertThat(after.startTerm()).isEqualTo(before.startTerm());
            assertThat(after.members()).hasSize(3);
            bed.members.forEach(member -> requireAdmission(member.server, after));
        });
    }

    /** A connection that another member began to open in any term of this start is admitted still. */
    private static void requireAdmission(ClusterServer server, Configuration prepared) {
        final MembershipView view = Objects.requireNonNull(server.membership());
        await().until(() -> view.term() == prepared.term());
        assertThat(view.startTerm()).isEqualTo(prepared.startTerm()).isLessThan(view.term());
        for (int other : prepared.members()) {
            final long incarnation = prepared.incarnations().get(other);
            for (long term = view.startTerm(); term <= view.term(); term++) {
                assertThat(view.admits(other, incarnation, term)).isTrue();
                assertThat(view.admits(other, incarnation - 1, term)).isFalse();
            }
            assertThat(view.admits(other, incarnation, view.startTerm() - 1)).isFalse();
            assertThat(view.admits(other, incarnation, view.term() + 1)).isFalse();
        }
    }

    @Test
    void shouldHandOverAlthoughTheManagerEnds() throws InterruptedException {
        useWhile(bed -> {
            final int manager = bed.configuration().manager();
            final ClusterBed.Member lost = bed.members.stream()
                    .filter(member -> member.server.serverId() == manager)
                    .findAny()
                    .orElseThrow();
            final ClusterBed.Member other = bed.members.stream()
                    .filter(member -> !member.equals(lost))
                    .findAny()
                    .orElseThrow();
            final int[] handed = IntStream.range(0, bed.configuration().shardCount())
                    .filter(shard -> !bed.configuration().shard(shard).isReplica(manager))
                    .toArray();
            final Configuration before = bed.configuration();
            final AtomicInteger handedOver = new AtomicInteger();
            for (int shard : handed) {
                start(() -> {
                    final int to = before.shard(shard).backups()[0];
                    assertThat(transfers(bed).transfer(shard, to).shard(shard).primary())
                            .isEqualTo(to);
                    handedOver.incrementAndGet();
                });
            }
            Loss.KILLED.of(lost);
            awaitMore();
            awaitMembers(other, 2);
            await().atMost(Duration.ofSeconds(60)).until(() -> handedOver.get() == handed.length);
        });
    }

    private void useWhile(Consumer<ClusterBed> disturbance) throws InterruptedException {
        useWhile(new ClusterBed(dir, 3, 2, 16 << 20).withUsualLease(), disturbance);
    }

    private void useWhile(ClusterBed started, Consumer<ClusterBed> disturbance) throws InterruptedException {
        try (ClusterBed bed = started.withPorts().startAll()) {
            client = RowanClient.connect(bed.addresses(), NetSettings.DEFAULT, DEADLINE_NS);
            cache = client.catalogue().create("cache", new byte[0]).id();
            final int watched =
                    client.catalogue().create("watched", new byte[0]).id();
            final Subscriber subscriber = new Subscriber();
            client.subscribe(watched, false, null, subscriber);
            final CountDownLatch ended = new CountDownLatch(CALLERS);
            for (int i = 0; i < CALLERS; i++) {
                final int from = i;
                start(() -> raiseAndWait(from));
                start(() -> writeBulks(from));
                raiseWithoutWaiting(i, ended);
            }
            await().until(() -> bulks.get() >= CALLERS && scanned() == KEYS + CALLERS * BULK);
            start(this::scanAll);
            start(this::askForCaches);
            requireHeard(watched, subscriber, "before");
            awaitMore();
            disturbance.accept(bed);
            awaitMore();
            requireHeard(watched, subscriber, "behind");
            stopping.set(true);
            for (Thread caller : callers) {
                caller.join();
            }
            ended.await();
            assertThat(failures).isEmpty();
            int sum = 0;
            for (int i = 0; i < KEYS; i++) {
                sum += numberOf(client.get(cache, bytes("counter" + i)));
            }
            assertThat(sum).isEqualTo(raised.get());
            assertThat(scanned()).isEqualTo(KEYS + CALLERS * BULK);
            client.close();
        }
    }
}
