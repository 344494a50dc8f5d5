package org.rowankv.server.index;

import java.util.HashMap;
import java.util.Map;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.TestScale;

/**
 * Readers without the lock and writers in turn, in all interleavings of a few operations: each find, put, remove and
 * relocate is one atomic step. The table is about to split, which the first new key causes, and its first bucket has a
 * chain.
 */
@Tag("races")
@Param(name = "key", gen = IntGen.class, conf = "20:23")
@Param(name = "version", gen = IntGen.class, conf = "0:1")
@Param(name = "owner", gen = ThreadIdGen.class)
public class ShardIndexLincheckTest {
    private static final int FILLED = 21;
    private static final int KEYS = 24;
    private static final int VERSIONS = 2;
    private static final IndexedLog LOG = new IndexedLog(positions(), VERSIONS);

    private final ShardIndex index = new ShardIndex(LOG.region());

    public ShardIndexLincheckTest() {
        index.lock(99);
        for (int key = 0; key < FILLED; key++) {
            index.put(LOG.position(key), LOG.address(key, 0));
        }
        index.unlock();
    }

    /** Half of the keys in the first of the four buckets, on both sides of its split line. */
    private static long[] positions() {
        final long[] positions = new long[KEYS];
        for (int key = 0; key < KEYS; key++) {
            final long bucket = key % 2 == 0 ? 0 : 1 + key % 3;
            positions[key] = bucket << 62 | (long) (key % 4 / 2) << 61 | (long) key << 45;
        }
        return positions;
    }

    @Operation
    public long find(@Param(name = "key") int key) {
        return LOG.find(index, key);
    }

    @Operation
    public boolean refers(@Param(name = "key") int key, @Param(name = "version") int version) {
        return index.refers(LOG.position(key), LOG.address(key, version));
    }

    @Operation
    public long put(
            @Param(name = "key") int key, @Param(name = "version") int version, @Param(name = "owner") int owner) {
        index.lock(owner + 1);
        final long replaced = index.put(LOG.position(key), LOG.address(key, version));
        index.unlock();
        return replaced;
    }

    @Operation
    public boolean remove(
            @Param(name = "key") int key, @Param(name = "version") int version, @Param(name = "owner") int owner) {
        index.lock(owner + 1);
        final boolean removed = index.remove(LOG.position(key), LOG.address(key, version));
        index.unlock();
        return removed;
    }

    @Operation
    public boolean relocate(@Param(name = "key") int key, @Param(name = "owner") int owner) {
        index.lock(owner + 1);
        final boolean moved = index.relocate(LOG.position(key), LOG.address(key, 0), LOG.address(key, 1));
        index.unlock();
        return moved;
    }

    /** The sequential specification. */
    public static final class Map24 {
        private final Map<Integer, Long> addresses = new HashMap<>();

        public Map24() {
            for (int key = 0; key < FILLED; key++) {
                addresses.put(key, LOG.address(key, 0));
            }
        }

        public long find(int key) {
            return addresses.getOrDefault(key, 0L);
        }

        public boolean refers(int key, int version) {
            return find(key) == LOG.address(key, version);
        }

        public long put(int key, int version, int owner) {
            final Long replaced = addresses.put(key, LOG.address(key, version));
            return replaced == null ? 0 : replaced;
        }

        public boolean remove(int key, int version, int owner) {
            return addresses.remove(key, LOG.address(key, version));
        }

        public boolean relocate(int key, int owner) {
            return addresses.replace(key, LOG.address(key, 0), LOG.address(key, 1));
        }
    }

    private static void explore(int scenarios) {
        new ModelCheckingOptions()
                // The log is only read: comparing keys takes part in no interleaving.
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(
                                KeyComparison.class.getName(),
                                MemoryRegion.class.getName(),
                                ExpiryBound.class.getName())
                        .allMethods()
                        .ignore())
                .sequentialSpecification(Map24.class)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(scenarios)
                .invocationsPerIteration(600)
                .check(ShardIndexLincheckTest.class);
    }

    @Test
    void shouldBeLinearizableInEveryInterleaving() {
        explore(2);
    }

    @Test
    @Tag("long")
    void shouldBeLinearizableInEveryInterleavingOfManyScenarios() {
        explore(12);
    }

    @Test
    void shouldBeLinearizableUnderStress() {
        new StressOptions()
                .sequentialSpecification(Map24.class)
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(TestScale.of(5, 10))
                .invocationsPerIteration(1_000)
                .check(ShardIndexLincheckTest.class);
    }
}
