package org.rowankv.runtime.concurrent;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.TestScale;

/** Threads that acquire and release slots of two words, in all interleavings. */
@Tag("races")
@Param(name = "owner", gen = ThreadIdGen.class)
public class DenseSlotPoolLincheckTest {
    /** All but two are taken: one is free in each of two words. */
    private static final int SLOTS = Long.SIZE + 1;

    private static final int FIRST = SLOTS - 2;
    private static final int OWNERS = 8;

    private final DenseSlotPool pool = new DenseSlotPool(SLOTS);
    /** Bit mask of the two slots that each owner holds; each owner's entry is its own. */
    private final int[] held = new int[OWNERS];

    /** Number of holders per slot. */
    private final AtomicIntegerArray holders = new AtomicIntegerArray(SLOTS);

    public DenseSlotPoolLincheckTest() {
        for (int i = 0; i < FIRST; i++) {
            if (pool.tryAcquire() != i) {
                throw new AssertionError("not the lowest one that is free");
            }
        }
    }

    /** Whether the owner is the only holder. */
    private boolean take(int slot, int owner) {
        held[owner] |= 1 << slot - FIRST;
        return holders.incrementAndGet(slot) == 1;
    }

    @Operation
    public boolean acquireAny(@Param(name = "owner") int owner) {
        final int slot = pool.tryAcquire();
        return slot < 0 || take(slot, owner);
    }

    @Operation
    public boolean release(@Param(name = "owner") int owner) {
        if (held[owner] == 0) {
            return true;
        }
        final int slot = FIRST + Integer.numberOfTrailingZeros(held[owner]);
        held[owner] &= held[owner] - 1;
        final boolean alone = holders.getAndDecrement(slot) == 1;
        pool.drop(slot);
        return alone;
    }

    /** Sequential specification: from acquire to release, a slot has one holder. */
    public static final class OneHolder {
        public boolean acquireAny(int owner) {
            return true;
        }

        public boolean release(int owner) {
            return true;
        }
    }

    private static void explore(int scenarios) {
        new ModelCheckingOptions()
                .sequentialSpecification(OneHolder.class)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1)
                .iterations(scenarios)
                .invocationsPerIteration(600)
                .check(DenseSlotPoolLincheckTest.class);
    }

    @Test
    void shouldHaveOneHolderInEveryInterleaving() {
        explore(TestScale.of(3, 6));
    }

    @Test
    @Tag("long")
    void shouldHaveOneHolderInEveryInterleavingOfManyScenarios() {
        explore(20);
    }

    @Test
    void shouldHaveOneHolderUnderStress() {
        new StressOptions()
                .sequentialSpecification(OneHolder.class)
                .threads(3)
                .actorsPerThread(4)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(TestScale.of(4, 10))
                .invocationsPerIteration(1_000)
                .check(DenseSlotPoolLincheckTest.class);
    }
}
