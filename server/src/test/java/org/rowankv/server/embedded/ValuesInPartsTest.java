package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.driver.WriteResult;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;

/** Values larger than a segment: each operation means what it means for small ones. */
@Timeout(120)
final class ValuesInPartsTest {
    private static final int BIG = 1_000_000;

    @ParameterizedTest
    @CsvSource({"1,1,false", "1,1,true", "3,3,true"})
    void shouldReturnValuesOfAnyLengthAsTheyWerePut(int servers, int replicas, boolean withIds) {
        try (PartedStore store = new PartedStore(servers, replicas, withIds, null)) {
            final int[] lengths = {
                8, PartedStore.SEGMENT - 300, PartedStore.SEGMENT - 1, PartedStore.SEGMENT, PartedStore.SEGMENT + 1, BIG
            };
            for (int length : lengths) {
                store.client.put(store.cache, bytes("k" + length), value("k" + length, length, length));
            }
            for (int length : lengths) {
                assertThat(numberOf("k" + length, store.client.get(store.cache, bytes("k" + length))))
                        .isEqualTo(length);
            }
            assertThat(store.objects()).isEqualTo(lengths.length);
            Stores.requireHealth(store.cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,false", "3,3,true"})
    void shouldRemoveThePartsOfWhatWasReplacedOrRemoved(int servers, int replicas, boolean withIds) {
        try (PartedStore store = new PartedStore(servers, replicas, withIds, null)) {
            final RowanClient client = store.client;
            client.put(store.cache, bytes("k"), value("k", 1, BIG));
            final long first = store.parts(); // the client learns the best length of a part
            client.put(store.cache, bytes("other"), value("other", 1, BIG));
            final long each = store.parts() - first;
            assertThat(each).isGreaterThan(10);
            client.put(store.cache, bytes("k"), value("k", 2, BIG));
            store.awaitParts(2 * each);
            assertThat(numberOf("k", client.get(store.cache, bytes("k")))).isEqualTo(2);
            client.put(store.cache, bytes("k"), value("k", 3, 10));
            store.awaitParts(each);
            assertThat(numberOf("k", client.get(store.cache, bytes("k")))).isEqualTo(3);
            assertThat(client.remove(store.cache, bytes("other")).existed()).isTrue();
            store.awaitParts(0);
            assertThat(client.get(store.cache, bytes("other"))).isNull();
            Stores.requireHealth(store.cluster);
            Stores.requireExactSpace(store.cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldDecideConditionsByTheVersionOfTheWholeValue(boolean withIds) {
        try (PartedStore store = new PartedStore(1, 1, withIds, null)) {
            final RowanClient client = store.client;
            final byte[] key = bytes("k");
            assertThat(client.replaceIfVersion(store.cache, key, value("k", 0, BIG), 5)
                            .applied())
                    .isFalse();
            final WriteResult first = client.putIfAbsent(store.cache, key, value("k", 1, BIG));
            assertThat(first.applied()).isTrue();
            assertThat(client.putIfAbsent(store.cache, key, value("k", 2, BIG)).applied())
                    .isFalse();
            assertThat(client.getVersioned(store.cache, key).version()).isEqualTo(first.version());
            final WriteResult second = client.replaceIfVersion(store.cache, key, value("k", 3, BIG), first.version());
            assertThat(second.applied()).isTrue();
            assertThat(second.previousVersion()).isEqualTo(first.version());
            assertThat(client.replaceIfVersion(store.cache, key, value("k", 4, BIG), first.version())
                            .applied())
                    .isFalse();
            assertThat(client.removeIfVersion(store.cache, key, first.version()).applied())
                    .isFalse();
            assertThat(numberOf("k", client.get(store.cache, key))).isEqualTo(3);
            assertThat(client.removeIfVersion(store.cache, key, second.version())
                            .applied())
                    .isTrue();
            store.awaitParts(0);
        }
    }

    /** Also with the reply that a retry rebuilds. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldReturnTheWholeOldValue(boolean withIds) {
        try (PartedStore store = new PartedStore(1, 1, withIds, null)) {
            final RowanClient client = store.client;
            final byte[] key = bytes("k");
            assertThat(client.getAndPut(store.cache, key, value("k", 1, BIG)).previousValue())
                    .isNull();
            assertThat(numberOf(
                            "k",
                            client.getAndPut(store.cache, key, value("k", 2, BIG))
                                    .previousValue()))
                    .isOne();
            assertThat(numberOf(
                            "k",
                            client.getAndPut(store.cache, key, value("k", 3, 10))
                                    .previousValue()))
                    .isEqualTo(2);
            assertThat(numberOf(
                            "k",
                            client.getAndPut(store.cache, key, value("k", 4, BIG))
                                    .previousValue()))
                    .isEqualTo(3);
            final WriteResult removed = client.getAndRemove(store.cache, key);
            assertThat(numberOf("k", removed.previousValue())).isEqualTo(4);
            assertThat(ResultBits.has(removed.bits(), ResultBits.REMOVED)).isTrue();
            assertThat(client.get(store.cache, key)).isNull();
            store.awaitParts(0);
        }
    }

    @Test
    void shouldReturnTheWholeValueThatRefusedAChange() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            final byte[] other = value("k", 2, BIG);
            store.client.put(store.cache, key, value("k", 1, BIG));
            final Request put = new Request()
                    .put(store.cache, key, 0, key.length, other, 0, other.length)
                    .when(Condition.IF_ABSENT)
                    .requestValue(true);
            store.client.execute(put);
            assertThat(put.status()).isEqualTo(Status.CONDITION_FAILED);
            assertThat(numberOf("k", put.resultBytes())).isOne();
            assertThat(put.condition()).as("the caller's request").isEqualTo(Condition.IF_ABSENT);
            assertThat(put.needsValue()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,false", "3,3,true"})
    void shouldHideThePartsFromScansAndReturnWholeValues(int servers, int replicas, boolean withIds) {
        try (PartedStore store = new PartedStore(servers, replicas, withIds, null)) {
            for (int i = 0; i < 5; i++) {
                store.client.put(store.cache, bytes("k" + i), value("k" + i, i, i % 2 == 0 ? BIG : 100));
            }
            final List<String> found = new ArrayList<>();
            store.client.scan(store.cache, true).forEachRemaining((ScanPage.Entry each) -> {
                final String key = new String(each.key(), java.nio.charset.StandardCharsets.UTF_8);
                numberOf(key, each.value());
                found.add(key);
            });
            assertThat(found).containsExactlyInAnyOrder("k0", "k1", "k2", "k3", "k4");
            assertThat(store.objects()).isEqualTo(5);
        }
    }

    @Test
    void shouldEndPartsWithTheirCache() {
        try (PartedStore store = new PartedStore(1, 1, false, null)) {
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            store.client.clear(store.cache);
            assertThat(store.client.get(store.cache, bytes("k"))).isNull();
            store.awaitParts(0);
            store.client.put(store.cache, bytes("k"), value("k", 2, BIG));
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isEqualTo(2);
            store.client.catalogue().destroy("c");
            store.awaitParts(0);
            assertThatThrownBy(() -> store.client.put(store.cache, bytes("k"), value("k", 3, BIG)))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.UNKNOWN_CACHE));
            Stores.requireExactSpace(store.cluster);
        }
    }

    @Test
    void shouldEndPartsWhenTheLifetimeIsOver() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            final byte[] big = value("k", 1, BIG);
            final Request put = new Request().put(store.cache, key, 0, key.length, big, 0, big.length);
            store.client.execute(put.ttl(60_000, 60_000));
            assertThat(put.status()).isEqualTo(Status.OK);
            final Request get = new Request().get(store.cache, key, 0, key.length);
            store.client.execute(get.accessTtl(3_600_000)); // writes the list again, not the value
            assertThat(numberOf("k", get.resultBytes())).isOne();
            assertThat(get.version()).isEqualTo(put.version());
            store.clock.leap(120_000_000_000L);
            assertThat(numberOf("k", store.client.get(store.cache, key))).isOne();
            store.clock.leap(7_200_000_000_000L);
            store.awaitParts(0);
            store.client.execute(
                    put.put(store.cache, key, 0, key.length, big, 0, big.length).ttl(0, 0));
            assertThat(put.has(ResultBits.BORN_EXPIRED)).isTrue();
            assertThat(store.parts()).as("parts of what was not stored").isZero();
        }
    }

    @Test
    void shouldRefuseWhatIsLongerThanTheLimit() {
        try (PartedStore store = new PartedStore(1, 1, false, null)) {
            store.client.partedValues().limit(BIG);
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            assertThatThrownBy(() -> store.client.put(store.cache, bytes("k"), value("k", 2, BIG + 1)))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.TOO_LARGE))
                    .hasMessageContaining("max-value");
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isOne();
            final byte[] longKey = new byte[2 * PartedStore.SEGMENT];
            assertThatThrownBy(() -> store.client.put(store.cache, longKey, value("k", 2, BIG)))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.TOO_LARGE));
        }
    }

    @Test
    void shouldWriteNothingWhereOnlyAPartOfAValueFits() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            final long before = store.parts();
            assertThatThrownBy(() -> store.client.put(store.cache, bytes("k"), value("k", 2, 40_000_000)))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.FULL));
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isOne();
            assertThat(store.parts()).isEqualTo(before);
        }
    }

    /** The space of ended values is found when a writer needs it, without their grace. */
    @Test
    void shouldReplaceAValueAgainAndAgainInASmallStore() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            for (int i = 0; i < 40; i++) {
                store.client.put(store.cache, bytes("k"), value("k", i, 5 * BIG));
                assertThat(numberOf("k", store.client.get(store.cache, bytes("k"))))
                        .isEqualTo(i);
            }
        }
    }

    /** A writer that waits for space holds its lock, and the lock may be that of a part that is to be removed. */
    @Test
    void shouldFindTheSpaceOfEndedPartsWhoseFirstIsLocked() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            store.client.put(store.cache, bytes("k"), value("k", 1, 5 * BIG));
            final List<byte[]> keys = store.keysBesideFirstPart(bytes("k"), 1_000);
            store.client.remove(store.cache, bytes("k"));
            final int fits = putUntilFull(store, keys);
            try (PartedStore empty = new PartedStore(1, 1, true, null)) {
                final int fitsEmpty = putUntilFull(empty, keys);
                assertThat(fits).as("of %d", fitsEmpty).isGreaterThan(fitsEmpty * 95 / 100);
            }
        }
    }

    private static int putUntilFull(PartedStore store, List<byte[]> keys) {
        for (int i = 0; i < keys.size(); i++) {
            try {
                store.client.put(store.cache, keys.get(i), new byte[30_000]);
            } catch (StoreFullException e) {
                return i;
            }
        }
        throw new AssertionError("the store has room for all");
    }

    @Test
    void shouldReadManyWholeValuesAtOnce() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final List<byte[]> keys = List.of(bytes("a"), bytes("b"), bytes("none"));
            store.client.putAll(store.cache, keys.subList(0, 2), List.of(value("a", 1, BIG), value("b", 2, 100)));
            final List<VersionedValue> found = store.client.getAll(store.cache, keys);
            assertThat(numberOf("a", found.get(0).value())).isOne();
            assertThat(numberOf("b", found.get(1).value())).isEqualTo(2);
            assertThat(found.get(2).isPresent()).isFalse();
            final Request get = new Request().get(store.cache, keys.get(0), 0, 1);
            assertThat(numberOf(
                            "a",
                            store.client
                                    .executeAsync(get)
                                    .toCompletableFuture()
                                    .join()
                                    .resultBytes()))
                    .isOne();
        }
    }
}
