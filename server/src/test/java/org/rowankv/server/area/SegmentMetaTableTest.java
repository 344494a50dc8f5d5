package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rowankv.server.durability.CrashMemory;
import org.rowankv.server.durability.MemoryVerbs;

class SegmentMetaTableTest {
    private static final int COUNT = 4;

    private final CrashMemory memory = new CrashMemory(COUNT * SegmentMetaDescriptor.LENGTH);
    private final SegmentMetaTable table = new SegmentMetaTable(memory.visible(), memory, 0, COUNT);

    private static long freeCount(SegmentMetaTable table) {
        return IntStream.range(0, table.segmentCount())
                .filter(segment -> table.state(segment) == SegmentState.FREE)
                .count();
    }

    @Test
    void shouldLayWordsOutAligned() {
        assertThat(SegmentMetaDescriptor.LENGTH).isEqualTo(32);
        assertThat(SegmentMetaDescriptor.WORD_OFFSET).isZero();
        assertThat(SegmentMetaDescriptor.STATE_OFFSET).isZero();
        assertThat(SegmentMetaDescriptor.OWNER_OFFSET).isEqualTo(1);
        assertThat(SegmentMetaDescriptor.GENERATION_OFFSET).isEqualTo(4);
        assertThat(SegmentMetaDescriptor.SEQUENCE_OFFSET).isEqualTo(8);
        assertThat(SegmentMetaDescriptor.HORIZON_OFFSET).isEqualTo(16);
        assertThat(SegmentMetaDescriptor.CHECK_OFFSET).isEqualTo(28);
        assertThat(SegmentMetaDescriptor.LENGTH % SegmentMetaDescriptor.ALIGNMENT)
                .isZero();
        assertThat(AreaDescriptor.segmentMetaOffset(4096) % SegmentMetaDescriptor.ALIGNMENT)
                .isZero();
    }

    @Test
    void shouldPutEachFieldWhereTheDiagramSays() {
        table.open(1, SegmentOwner.BACKUP, 0xCAFEBABE, 5, 3);
        final ByteBuffer bytes = memory.visible();
        assertThat(bytes.get(32)).isEqualTo((byte) SegmentState.USING.ordinal());
        assertThat(bytes.get(33)).isEqualTo((byte) SegmentOwner.BACKUP.ordinal());
        assertThat(bytes.getShort(34)).isZero();
        assertThat(bytes.getInt(36)).isEqualTo(0xCAFEBABE);
        assertThat(bytes.getLong(40)).isEqualTo(5);
        assertThat(bytes.getLong(48)).isEqualTo(3);
        assertThat(bytes.getInt(56)).isZero();
    }

    @Test
    void shouldLiveFromFreeToFreeAndKeepItsGeneration() {
        table.open(0, SegmentOwner.WORKER, 77, table.nextSequence(), 1);
        assertThat(table.state(0)).isEqualTo(SegmentState.USING);
        assertThat(table.owner(0)).isEqualTo(SegmentOwner.WORKER);
        table.transition(0, SegmentState.USING, SegmentState.USED);
        table.transition(0, SegmentState.USED, SegmentState.COMMITTED);
        assertThat(table.generation(0)).isEqualTo(77);
        assertThat(table.sequence(0)).isEqualTo(1);
        assertThat(table.horizon(0)).isEqualTo(1);
        table.free(0);
        assertThat(table.state(0)).isEqualTo(SegmentState.FREE);
        assertThat(table.owner(0)).isEqualTo(SegmentOwner.NONE);
        assertThat(table.generation(0)).isEqualTo(77);
        assertThat(freeCount(table)).isEqualTo(COUNT);
        assertThatThrownBy(() -> table.open(0, SegmentOwner.WORKER, 77, 2, 2))
                .isInstanceOf(IllegalArgumentException.class);
        table.open(0, SegmentOwner.CLEAN, 78, table.nextSequence(), 1);
        assertThat(table.whyInvalid()).isNull();
    }

    @Test
    void shouldMakeNoStepThatTheLifeCycleDoesNotHave() {
        for (SegmentState from : SegmentState.values()) {
            for (SegmentState to : SegmentState.values()) {
                final SegmentMetaTable fresh = tableWithSegmentIn(from);
                final boolean legal = from != SegmentState.FREE && to != SegmentState.FREE && from.mayBecome(to);
                if (legal) {
                    fresh.transition(0, from, to);
                    assertThat(fresh.state(0)).isEqualTo(to);
                } else {
                    assertThatThrownBy(() -> fresh.transition(0, from, to))
                            .as("%s to %s", from, to)
                            .isInstanceOf(IllegalStateException.class);
                    assertThat(fresh.state(0)).isEqualTo(from);
                }
            }
        }
        assertThatThrownBy(() -> tableWithSegmentIn(SegmentState.USED).free(0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> tableWithSegmentIn(SegmentState.FREE).free(0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> tableWithSegmentIn(SegmentState.USING).open(0, SegmentOwner.CLEAN, 9, 9, 9))
                .isInstanceOf(IllegalStateException.class);
    }

    private static SegmentMetaTable tableWithSegmentIn(SegmentState state) {
        final CrashMemory memory = new CrashMemory(SegmentMetaDescriptor.LENGTH);
        final SegmentMetaTable table = new SegmentMetaTable(memory.visible(), memory, 0, 1);
        if (state != SegmentState.FREE) {
            table.open(0, SegmentOwner.WORKER, 5, 1, 1);
        }
        if (state == SegmentState.USED || state == SegmentState.COMMITTED) {
            table.transition(0, SegmentState.USING, state);
        }
        return table;
    }

    @Test
    void shouldRefuseAUseWithoutGenerationOwnerOrOrder() {
        assertThatThrownBy(() -> table.open(0, SegmentOwner.WORKER, 0, 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> table.open(0, SegmentOwner.NONE, 1, 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> table.open(0, SegmentOwner.WORKER, 1, 1, 2))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> table.state(COUNT)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(freeCount(table)).isEqualTo(COUNT);
    }

    /** "using" names its own use, or is not there yet, whatever words a crash keeps. */
    @Test
    void shouldFindEachStepDoneOrNotDoneWhateverACrashKeeps() {
        final List<ByteBuffer> found = new ArrayList<>();
        final Random random = new Random(2);
        memory.beforeDrain(() -> {
            for (int i = 0; i < 64; i++) {
                found.add(memory.crash(random));
            }
        });
        for (int generation = 1; generation < 20; generation++) {
            final long sequence = table.nextSequence();
            found.clear();
            table.open(2, SegmentOwner.BACKUP, generation, sequence, sequence);
            memory.drain();
            requireEach(found, generation, sequence, SegmentState.FREE, SegmentState.USING);
            requireEach(List.of(memory.crash(random)), generation, sequence, SegmentState.USING, SegmentState.USING);
            found.clear();
            table.transition(2, SegmentState.USING, SegmentState.COMMITTED);
            memory.drain();
            requireEach(found, generation, sequence, SegmentState.USING, SegmentState.COMMITTED);
            found.clear();
            table.free(2);
            requireEach(found, generation, sequence, SegmentState.COMMITTED, SegmentState.FREE);
        }
    }

    /** The device still has word 0 of the last use: the words beside it must stay those of that use. */
    @Test
    void shouldBeginNoUseBeforeTheEndOfTheLastIsDurable() {
        memory.delayRequests();
        final List<ByteBuffer> found = new ArrayList<>();
        final Random random = new Random(2);
        memory.beforeDrain(() -> {
            for (int i = 0; i < 16; i++) {
                found.add(memory.crash(random));
            }
        });
        for (int generation = 1; generation < 10; generation++) {
            final long sequence = table.nextSequence();
            table.open(2, SegmentOwner.WORKER, generation, sequence, sequence);
            table.transition(2, SegmentState.USING, SegmentState.COMMITTED);
            memory.drain();
            table.free(2);
        }
        assertThat(found)
                .isNotEmpty()
                .allSatisfy(image -> assertThat(new SegmentMetaTable(image, new MemoryVerbs(), 0, COUNT).whyInvalid())
                        .isNull());
    }

    private static void requireEach(
            List<ByteBuffer> images, int generation, long sequence, SegmentState before, SegmentState after) {
        assertThat(images).isNotEmpty();
        for (ByteBuffer image : images) {
            final SegmentMetaTable restarted = new SegmentMetaTable(image, new MemoryVerbs(), 0, COUNT);
            assertThat(restarted.whyInvalid()).isNull();
            assertThat(restarted.state(2)).isIn(before, after);
            if (restarted.state(2) != SegmentState.FREE) {
                assertThat(restarted.generation(2)).isEqualTo(generation);
                assertThat(restarted.sequence(2)).isEqualTo(sequence);
                assertThat(restarted.horizon(2)).isEqualTo(sequence);
            }
        }
    }

    @Test
    void shouldNeverGiveASequenceTwiceAlsoAfterARestart() {
        final long first = table.nextSequence();
        table.open(0, SegmentOwner.WORKER, 1, first, first);
        table.free(0);
        final SegmentMetaTable restarted = new SegmentMetaTable(memory.visible(), memory, 0, COUNT);
        assertThat(restarted.nextSequence()).isGreaterThan(first);
    }

    @Test
    void shouldSayWhyADamagedLineCannotBeTrusted() {
        table.open(3, SegmentOwner.WORKER, 9, 1, 1);
        for (int bit = 0; bit < SegmentMetaDescriptor.LENGTH * Byte.SIZE; bit++) {
            final int at = 3 * SegmentMetaDescriptor.LENGTH + bit / Byte.SIZE;
            final byte mask = (byte) (1 << (bit % Byte.SIZE));
            final ByteBuffer bytes = memory.visible();
            bytes.put(at, (byte) (bytes.get(at) ^ mask));
            // A flip between two legal states of one use is undetectable; every other one is detected.
            final int state = bytes.get(3 * SegmentMetaDescriptor.LENGTH);
            final boolean undetectable = bit < Byte.SIZE && SegmentState.isCode(state) && state != 0;
            assertThat(table.whyInvalid() == null).as("bit %d", bit).isEqualTo(undetectable);
            bytes.put(at, (byte) (bytes.get(at) ^ mask));
        }
    }

    @Test
    void shouldLetOneOfTwoAgentsWinAStep() throws InterruptedException {
        for (int round = 1; round < 500; round++) {
            table.open(0, SegmentOwner.WORKER, round, table.nextSequence(), 1);
            final AtomicInteger won = new AtomicInteger();
            final CountDownLatch start = new CountDownLatch(1);
            final Thread[] agents = new Thread[2];
            for (int i = 0; i < agents.length; i++) {
                agents[i] = new Thread(() -> {
                    try {
                        start.await();
                        table.transition(0, SegmentState.USING, SegmentState.COMMITTED);
                        won.incrementAndGet();
                    } catch (IllegalStateException e) {
                        // the other one won
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                agents[i].start();
            }
            start.countDown();
            for (Thread agent : agents) {
                agent.join();
            }
            assertThat(won).hasValue(1);
            table.free(0);
        }
    }
}
