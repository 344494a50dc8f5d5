package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** Bits that flip in an area in use: detected, repaired from another replica that has the bytes, never trusted. */
@Timeout(120)
final class ScrubTest {
    private static final int KEYS = 400;
    private static final int LENGTH = 1000;
    private static final int FAST = 1 << 10;
    /** Passes of some milliseconds each; damage is repaired within a few. */
    private static final int MAX_PASSES = 200;

    @TempDir
    private Path dir;

    private EmbeddedCluster cluster;
    private RowanClient client;
    private int cache;

    private void open(int servers, int scrubRate) {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = servers;
            with.shards = servers;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 4096;
            with.dir = dir;
            with.scrubMibPerSecond = scrubRate;
        }));
        client = Stores.client(cluster);
        cache = Stores.cache(client);
        for (int k = 0; k < KEYS; k++) {
            client.put(cache, bytes("k" + k), value("k" + k, k, LENGTH));
        }
        cluster.awaitDigested();
    }

    @AfterEach
    void close() {
        if (cluster != null) {
            client.close();
            cluster.close();
        }
    }

    /** An entry in a committed segment. */
    private record Place(Server server, long address, int length) {
        ByteBuffer buffer() {
            return server.segments().region().buffer(address);
        }

        int at() {
            return server.segments().region().offset(address);
        }

        void flip(int offset) {
            final int where = at() + offset;
            buffer().put(where, (byte) (buffer().get(where) ^ 4));
        }
    }

    /** The first entry of that type in a committed segment of the server; live: whether the index refers to it. */
    private static Place find(Server server, int type, boolean live) {
        final Place found = look(server, type, live, -1);
        assertThat(found).as("an entry of type %s", EntryType.name(type)).isNotNull();
        return found;
    }

    /** The same for that shard, or any (−1); null if there is none. */
    private static Place look(Server server, int type, boolean live, int shard) {
        final Segments segments = server.segments();
        final SegmentScan scan = new SegmentScan(segments.region());
        final Place[] found = new Place[1];
        final byte[] scratch = new byte[256];
        for (int s = 0; s < segments.count(); s++) {
            if (segments.state(s) != SegmentState.COMMITTED || !segments.isClosed(s)) {
                continue;
            }
            scan.scan(
                    segments.area().addressOf(s), segments.length(), segments.generation(s), new SegmentScan.Visitor() {
                        @Override
                        public void onEntry(ByteBuffer buffer, int at, long address, int each, int length) {
                            if (each != type
                                    || found[0] != null
                                    || shard >= 0 && EntryDescriptor.shard(buffer, at) != shard) {
                                return;
                            }
                            final boolean isLive = EntryType.isKeyed(type) && isLive(buffer, at, address);
                            if (isLive == live) {
                                found[0] = new Place(server, address, length);
                            }
                        }

                        private boolean isLive(ByteBuffer buffer, int at, long address) {
                            final ShardReplica replica = server.replicas().get(EntryDescriptor.shard(buffer, at));
                            return replica.index().refers(replica.positionOf(buffer, at, scratch), address);
                        }

                        @Override
                        public void onInvalid(long address, String reason) {
                            throw new AssertionError(reason);
                        }
                    });
        }
        return found[0];
    }

    private ServerStatistics statistics(int server) {
        return cluster.statistics().get(server);
    }

    /** Waits until all earlier entries were read again. */
    private void awaitRound(int server) {
        final long enough = statistics(server).scrubRounds() + 2;
        await().atMost(Duration.ofSeconds(60)).until(() -> statistics(server).scrubRounds() >= enough);
    }

    /** Waits until the scrubber has acted; bounded by a number of its passes. */
    private void awaitScrubber(int server, BooleanSupplier done) {
        final long enough = statistics(server).scrubRounds() + MAX_PASSES;
        await().atMost(Duration.ofSeconds(60))
                .until(() -> done.getAsBoolean() || statistics(server).scrubRounds() >= enough);
        assertThat(done.getAsBoolean())
                .as("done after %d passes of the scrubber", MAX_PASSES)
                .isTrue();
    }

    private static String keyOf(Place place) {
        final byte[] key = new byte[EntryDescriptor.keyLength(place.buffer(), place.at())];
        place.buffer().get(place.at() + keyOffset(place), key);
        return new String(key, StandardCharsets.UTF_8);
    }

    private static int keyOffset(Place place) {
        return EntryDescriptor.headerLength(EntryDescriptor.flags(place.buffer(), place.at()));
    }

    /** A part of an entry in which a bit flips. */
    private enum Part {
        WORD_BEGIN,
        TYPE,
        WORD_END,
        CHECKSUM,
        VERSION,
        LENGTHS,
        KEY,
        VALUE;

        int offsetIn(Place place) {
            return switch (this) {
                case WORD_BEGIN -> 0;
                case TYPE -> 6;
                case WORD_END -> 7;
                case CHECKSUM -> 9;
                case VERSION -> 25;
                case LENGTHS -> 45;
                case KEY -> keyOffset(place);
                case VALUE -> keyOffset(place) + 20;
            };
        }
    }

    @ParameterizedTest
    @EnumSource(Part.class)
    void shouldTakeALiveObjectFromAnotherReplica(Part part) {
        open(3, FAST);
        final Place place = find(cluster.servers().get(1), EntryType.PUT, true);
        place.flip(part.offsetIn(place));
        awaitScrubber(1, () -> statistics(1).replacedEntries() + statistics(1).lostEntries() == 1);
        assertThat(statistics(1).replacedEntries()).isEqualTo(1);
        assertThat(statistics(1).badEntries()).isEqualTo(1);
        assertThat(cluster.errors().distinct())
                .singleElement()
                .satisfies(error -> assertThat(error.where() + ": " + error.message())
                        .contains("server 1: segment ", " at " + place.address(), "taken from another replica"));
        requireAll();
        Stores.requireAgreement(cluster);
        requireStillCleaned();
        Stores.requireAgreement(cluster);
    }

    @ParameterizedTest
    @EnumSource(Part.class)
    void shouldNeverReturnALiveObjectThatNoReplicaHas(Part part) {
        open(1, FAST);
        final Place place = find(cluster.servers().get(0), EntryType.PUT, true);
        final String key = keyOf(place);
        place.flip(part.offsetIn(place));
        awaitScrubber(0, () -> statistics(0).lostEntries() == 1);
        assertThat(statistics(0).badEntries()).isEqualTo(1);
        assertThat(cluster.errors().distinct())
                .anySatisfy(error -> assertThat(error.where() + ": " + error.message())
                        .contains("server 0: segment ", dir.toString(), " at " + place.address()));
        assertThatThrownBy(() -> client.get(cache, bytes(key)))
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.CORRUPTED))
                .hasMessageContaining('"' + key + '"');
        assertThatThrownBy(() -> client.getAndPut(cache, bytes(key), bytes("x")))
                .isInstanceOf(RowanException.class);
        for (int k = 0; k < KEYS; k++) {
            if (!key.equals("k" + k)) {
                assertThat(numberOf("k" + k, client.get(cache, bytes("k" + k)))).isEqualTo(k);
            }
        }
        if (part == Part.VALUE || part == Part.VERSION || part == Part.CHECKSUM) {
            client.put(cache, bytes(key), value(key, 7, LENGTH));
            assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(7);
        }
        // The damaged segment stays, and the store continues without it.
        requireStillCleaned();
    }

    @ParameterizedTest
    @CsvSource({"1, VALUE", "3, VALUE", "1, VERSION", "3, CHECKSUM"})
    void shouldOnlyCountADeadObject(int servers, Part part) {
        open(servers, FAST);
        damageOneThatIsRead(cluster.servers().get(0), EntryType.PUT, part, this::fillASegment);
        awaitRound(0);
        assertThat(statistics(0).badEntries()).isEqualTo(1);
        assertThat(statistics(0).replacedEntries() + statistics(0).lostEntries())
                .isZero();
        assertThat(cluster.errors().distinct()).isEmpty();
        requireAll();
        requireStillCleaned();
        assertThat(cluster.errors().distinct()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "1, DELETE, VERSION",
        "3, DELETE, VERSION",
        "1, SESSION_OPEN, VERSION",
        "3, SESSION_OPEN, VERSION",
        "1, SESSION_OPEN, TYPE", // by that bit it is a PUT
        "3, COMMIT_VECTOR, VERSION",
        "1, CLEAR, VERSION",
        "3, CLEAR, VERSION"
    })
    void shouldKeepASegmentWithARecordThatMayBeNeeded(int servers, String kind, Part part) {
        open(servers, FAST);
        final int other = client.catalogue().create("other", new byte[0]).id();
        final Server server = cluster.servers().get(0);
        // CommitVer records arrive every few milliseconds, and a segment is committed after a later one.
        final Place place = damageOneThatIsRead(server, typeOf(kind), part, () -> {
            client.put(cache, bytes("gone"), bytes("x"));
            client.remove(cache, bytes("gone"));
            client.clear(other);
            fillASegment();
        });
        awaitRound(0);
        assertThat(statistics(0).badEntries()).isEqualTo(1);
        if (kind.equals("COMMIT_VECTOR")) {
            assertThat(cluster.errors().distinct()).isEmpty();
        } else {
            assertThat(cluster.errors().distinct())
                    .singleElement()
                    .satisfies(
                            error -> assertThat(error.where() + error.message()).contains("segment ", kind, "kept"));
        }
        requireAll();
        requireStillCleaned();
        assertThat(client.get(cache, bytes("gone"))).isNull();
        final Segments segments = place.server().segments();
        final boolean kept = segments.damage()
                .isSuspect(
                        segments.segmentOf(place.address()), segments.generation(segments.segmentOf(place.address())));
        if (!EntryType.isTombstone(typeOf(kind))) { // else until all that it may have ended is gone
            assertThat(kept).isEqualTo(!kind.equals("COMMIT_VECTOR"));
        }
    }

    /**
     * Damages a dead entry, and waits until the scrubber finds it. Damages another one if the segment was freed before:
     * dead entries of freed segments are never read.
     *
     * @param write makes such entries
     */
    private Place damageOneThatIsRead(Server server, int type, Part part, Runnable write) {
        final Segments segments = server.segments();
        while (true) {
            Place place = look(server, type, false, -1);
            for (int i = 0; i < 200 && place == null; i++) {
                write.run();
                place = look(server, type, false, -1);
            }
            assertThat(place).as("an entry of type %s", EntryType.name(type)).isNotNull();
            final int segment = segments.segmentOf(place.address());
            final int generation = segments.generation(segment);
            place.flip(part.offsetIn(place));
            awaitScrubber(
                    server.serverId(),
                    () -> statistics(server.serverId()).badEntries() == 1
                            || segments.generation(segment) != generation
                            || segments.state(segment) != SegmentState.COMMITTED);
            if (statistics(server.serverId()).badEntries() == 1) {
                return place;
            }
        }
    }

    private static int typeOf(String kind) {
        for (int type = 1; type <= EntryType.BLOCK; type++) {
            if (EntryType.name(type).equals(kind)) {
                return type;
            }
        }
        throw new AssertionError(kind);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldNotTakeADamagedKeyForAMissingOne(int servers) {
        open(servers, 0);
        final Server primary =
                cluster.servers().get(cluster.configuration().shard(0).primary());
        final Place place = look(primary, EntryType.PUT, true, 0);
        final String key = keyOf(place);
        place.flip(keyOffset(place));
        if (servers == 1) {
            assertThatThrownBy(() -> client.get(cache, bytes(key))).isInstanceOf(RowanException.class);
            assertThatThrownBy(() -> client.put(cache, bytes(key), bytes("x"))).isInstanceOf(RowanException.class);
        } else {
            assertThat(client.get(cache, bytes(key)))
                    .as("%s, shard 0 of server %s, once it is replaced", key, primary.serverId())
                    .isNotNull();
            // It is counted a moment after readers find it.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> statistics(primary.serverId()).replacedEntries() == 1);
            requireAll();
        }
    }

    /** @param withIds as over a network: then the answer to a mutation is remembered under its id */
    @ParameterizedTest
    @CsvSource({"true, GET", "false, GET", "true, PUT", "false, PUT"})
    void shouldReadAndWriteOverAFlippedBitWithoutAnError(boolean withIds, Operation operation) {
        open(3, 0);
        final RowanClient asking = withIds
                ? client
                : new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(8));
        final Place place =
                look(cluster.servers().get(cluster.configuration().shard(0).primary()), EntryType.PUT, true, 0);
        final String key = keyOf(place);
        place.flip(keyOffset(place));
        final byte[] before = operation == Operation.GET
                ? asking.get(cache, bytes(key))
                : asking.getAndPut(cache, bytes(key), value(key, 7, LENGTH)).previousValue();
        assertThat("k" + numberOf(key, before)).isEqualTo(key);
    }

    @Test
    void shouldFindNothingInASoundStoreUnderLoad() {
        open(3, FAST);
        final long enough = statistics(0).scrubRounds() + 3;
        for (int i = 0; statistics(0).scrubRounds() < enough || i < 20_000; i++) {
            final int k = i % KEYS;
            client.put(cache, bytes("k" + k), value("k" + k, k, LENGTH));
            if (i % 7 == 0) {
                client.remove(cache, bytes("k" + k));
                client.put(cache, bytes("k" + k), value("k" + k, k, LENGTH));
            }
        }
        requireAll();
        Stores.requireHealth(cluster);
        for (ServerStatistics each : cluster.statistics()) {
            assertThat(each.badEntries()).isZero();
            assertThat(each.scrubbedBytes()).isPositive();
            assertThat(each.cleanedSegments()).isPositive();
        }
    }

    private void fillASegment() {
        for (int i = 0; i < 3 * 64; i++) {
            client.put(cache, bytes("k" + i), value("k" + i, i, LENGTH));
        }
        cluster.awaitDigested();
    }

    /** Writes many times the capacity, and the cleaner passes all segments. */
    private void requireStillCleaned() {
        final long before = statistics(0).cleanedSegments();
        for (int i = 0; i < 12_000; i++) {
            client.put(cache, bytes("more" + i % 200), value("more" + i % 200, i, LENGTH));
        }
        assertThat(statistics(0).cleanedSegments()).isGreaterThan(before);
    }

    private void requireAll() {
        for (int k = 0; k < KEYS; k++) {
            assertThat(numberOf("k" + k, client.get(cache, bytes("k" + k)))).isEqualTo(k);
        }
    }
}
