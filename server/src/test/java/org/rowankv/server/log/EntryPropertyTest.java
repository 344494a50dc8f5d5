package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;

/** Whatever happens to a segment's bytes, a scan finds written entries, unchanged, or nothing. */
@net.jqwik.api.Tag("jvm")
final class EntryPropertyTest {
    private static final int SEGMENT_LENGTH = 1 << 16;
    private static final int SEGMENT_ADDRESS = SEGMENT_LENGTH;
    private static final int OTHER_ADDRESS = 2 * SEGMENT_LENGTH;

    private final ByteBuffer memory =
            ByteBuffer.allocateDirect(4 * SEGMENT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    private final MemoryRegion region = MemoryRegion.of(memory);
    private final FrameSealer sealer = new FrameSealer();
    private final List<WrittenEntry> written = new ArrayList<>();

    /** The result of a scan: which of the written entries, and whether anything else. */
    private final class Found implements SegmentScan.Visitor {
        private final List<WrittenEntry> entries = new ArrayList<>();
        private int strangers;
        private int invalid;

        @Override
        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
            for (WrittenEntry entry : written) {
                if (entry.isAt(buffer, at, address, type, length)) {
                    entries.add(entry);
                    return;
                }
            }
            strangers++;
        }

        @Override
        public void onInvalid(long address, String reason) {
            invalid++;
        }
    }

    private Found scan(long address, int length, int generation) {
        final Found found = new Found();
        new SegmentScan(region).scan(address, length, generation, found);
        return found;
    }

    /** Fills the segment with random bytes, then with entries until it is full; returns the generation. */
    private int write(Random random, int largestValue) {
        written.clear();
        memory.put(0, WrittenEntry.bytes(random, memory.capacity()));
        final int generation = random.nextInt() | 1;
        long address = SEGMENT_ADDRESS;
        while (true) {
            final WrittenEntry entry =
                    WrittenEntry.draw(random, address, WrittenEntry.bytes(random, random.nextInt(largestValue)));
            if (address + entry.length() > SEGMENT_ADDRESS + SEGMENT_LENGTH) {
                return generation;
            }
            write(entry, generation);
            address += entry.length();
        }
    }

    private void write(WrittenEntry entry, int generation) {
        final int at = region.offset(entry.address());
        final int bodyCrc = entry.draft().writeBody(memory, at);
        sealer.publishOwned(
                memory,
                at,
                entry.address(),
                generation,
                entry.length(),
                entry.type(),
                bodyCrc,
                entry.tag(),
                entry.stamp());
        written.add(entry);
    }

    private WrittenEntry any(Random random) {
        return written.get(random.nextInt(written.size()));
    }

    private List<WrittenEntry> allBut(WrittenEntry damaged) {
        return written.stream().filter(entry -> !entry.equals(damaged)).toList();
    }

    @Property(tries = 60)
    void shouldFindWhatWasWrittenAndNothingElse(@ForAll long seed) {
        final int generation = write(new Random(seed), 2_000);
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
        assertThat(found.entries).isEqualTo(written);
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 300)
    void shouldNeverServeAnEntryWithAFlippedBit(@ForAll long seed) {
        final Random random = new Random(seed);
        final int generation = write(random, 2_000);
        final WrittenEntry damaged = any(random);
        final int at = region.offset(damaged.address());
        final int used = EntryDescriptor.usedLength(memory, at);
        final int bit = random.nextInt(8 * used);
        memory.put(at + bit / 8, (byte) (memory.get(at + bit / 8) ^ 1 << bit % 8));
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
        assertThat(found.entries).isEqualTo(allBut(damaged));
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 300)
    void shouldNeverServeAnEntryOfWhichWordsAreMissing(@ForAll long seed) {
        final Random random = new Random(seed);
        final int generation = write(random, 2_000);
        final WrittenEntry torn = any(random);
        final int at = region.offset(torn.address());
        // As after a power cut: each aligned word is the new one or an older one.
        for (int word = 0; word < torn.length(); word += Long.BYTES) {
            if (random.nextInt(4) == 0) {
                memory.putLong(at + word, random.nextBoolean() ? 0 : random.nextLong());
            }
        }
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
        // Only its padding may be hit; then it is still whole.
        assertThat(found.entries).containsAll(allBut(torn));
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 200)
    void shouldNeverServeAnEntryThatIsCutOff(@ForAll long seed) {
        final Random random = new Random(seed);
        final int generation = write(random, 2_000);
        final WrittenEntry cut = any(random);
        final int keptStrides = random.nextInt(cut.length() / FrameDescriptor.STRIDE);
        final int end = (int) (cut.address() - SEGMENT_ADDRESS) + keptStrides * FrameDescriptor.STRIDE;
        final Found found = scan(SEGMENT_ADDRESS, end, generation);
        assertThat(found.entries).isEqualTo(written.subList(0, written.indexOf(cut)));
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 100)
    void shouldNeverServeAnotherUseOfTheSegment(@ForAll long seed, @ForAll int other) {
        final int generation = write(new Random(seed), 2_000);
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, other == generation ? ~other : other);
        assertThat(found.entries).isEmpty();
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 100)
    void shouldNeverServeEntriesThatWereMoved(@ForAll long seed) {
        final int generation = write(new Random(seed), 2_000);
        final byte[] bytes = new byte[SEGMENT_LENGTH];
        memory.get(SEGMENT_ADDRESS, bytes);
        memory.put(OTHER_ADDRESS, bytes);
        // Even under the same generation, as if two segments had drawn it.
        final Found found = scan(OTHER_ADDRESS, SEGMENT_LENGTH, generation);
        assertThat(found.entries).isEmpty();
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 100)
    void shouldNeverServeEntriesThatLieInsideAValue(
            @ForAll long seed, @ForAll @IntRange(max = 3) int shiftStrides, @ForAll boolean damageTheOuter) {
        final Random random = new Random(seed);
        final int generation = write(random, 2_000);
        final byte[] segment = new byte[SEGMENT_LENGTH / 2];
        memory.get(SEGMENT_ADDRESS, segment);
        written.clear();
        memory.put(SEGMENT_ADDRESS, new byte[SEGMENT_LENGTH]);
        // The key makes the value start at a stride, so that the entries in it are aligned.
        final WrittenEntry drawn =
                WrittenEntry.draw(random, SEGMENT_ADDRESS + shiftStrides * FrameDescriptor.STRIDE, segment);
        final int header = EntryDescriptor.headerLength(drawn.flags());
        final byte[] key = new byte[EntryDescriptor.aligned(header) - header];
        final int oldLength = drawn.oldValue() == null ? 0 : drawn.oldValue().length;
        final WrittenEntry outer = new WrittenEntry(
                drawn.address(),
                EntryDescriptor.aligned(header + key.length + segment.length + oldLength),
                drawn.type(),
                drawn.shard(),
                drawn.version(),
                drawn.cacheId(),
                key,
                segment,
                drawn.oldValue(),
                drawn.flags(),
                drawn.sessionId(),
                drawn.sequence(),
                drawn.unanswered(),
                drawn.previousVersion(),
                drawn.expiryMs(),
                drawn.objectVersion(),
                drawn.tag(),
                drawn.stamp());
        write(outer, generation);
        if (damageTheOuter) {
            // The scan then searches stride by stride, through the value.
            final int at = region.offset(outer.address());
            memory.put(at + FrameDescriptor.PLACEMENT_CRC_OFFSET, (byte)
                    ~memory.get(at + FrameDescriptor.PLACEMENT_CRC_OFFSET));
        }
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
        assertThat(found.entries).isEqualTo(damageTheOuter ? List.of() : List.of(outer));
        assertThat(found.strangers).isZero();
    }

    @Property(tries = 200)
    void shouldPassByPlacesThatWereReservedOrVoided(@ForAll long seed) {
        final Random random = new Random(seed);
        final int generation = write(random, 2_000);
        final List<WrittenEntry> holes = new ArrayList<>();
        for (WrittenEntry entry : written) {
            if (random.nextInt(3) == 0) {
                final int type = random.nextBoolean() ? FrameDescriptor.RESERVED : FrameDescriptor.VOID;
                final int strides = entry.length() / FrameDescriptor.STRIDE;
                memory.putLong(region.offset(entry.address()), FrameDescriptor.word(generation, strides, type));
                holes.add(entry);
            }
        }
        final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
        assertThat(found.entries)
                .isEqualTo(
                        written.stream().filter(entry -> !holes.contains(entry)).toList());
        assertThat(found.strangers).isZero();
        assertThat(found.invalid).isZero();
    }

    @Property(tries = 500)
    void shouldNotBeLedAstrayByRandomBytesUnderTheRightGeneration(@ForAll long seed, @ForAll int generation) {
        final Random random = new Random(seed);
        written.clear();
        memory.put(SEGMENT_ADDRESS, WrittenEntry.bytes(random, SEGMENT_LENGTH));
        for (int at = SEGMENT_ADDRESS; at < SEGMENT_ADDRESS + SEGMENT_LENGTH; at += FrameDescriptor.STRIDE) {
            memory.putInt(at, generation);
            memory.put(at + 7, (byte) 0);
        }
        assertThatCode(() -> {
                    final Found found = scan(SEGMENT_ADDRESS, SEGMENT_LENGTH, generation);
                    assertThat(found.strangers).isZero();
                })
                .doesNotThrowAnyException();
    }

    @Property(tries = 2000)
    void shouldTellMalformedLengthsBeforeTheyAreUsed(@ForAll long seed, @ForAll @IntRange(max = 1 << 12) int strides) {
        final Random random = new Random(seed);
        final ByteBuffer header = ByteBuffer.allocateDirect(EntryDescriptor.aligned(EntryDescriptor.MAX_HEADER_LENGTH))
                .order(ByteOrder.LITTLE_ENDIAN);
        header.put(0, WrittenEntry.bytes(random, header.capacity()));
        final int frameLength = strides * FrameDescriptor.STRIDE;
        if (EntryDescriptor.whyMalformed(header, 0, frameLength) == null) {
            assertThat(EntryDescriptor.usedLength(header, 0)).isBetween(0, frameLength);
        }
        if (BlockDescriptor.whyMalformed(header, 0, frameLength) == null) {
            assertThat(BlockDescriptor.payloadLength(header, 0)).isBetween(0, frameLength);
        }
    }
}
