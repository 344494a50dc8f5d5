package org.rowankv.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;

/** Requests for changes and their responses are decoded as they were encoded; senseless ones are refused. */
final class ChangesFramesTest {
    private static byte[] bytes(Random random, int longest) {
        final byte[] bytes = new byte[random.nextInt(longest)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static List<Section> sections(Random random, int requested) {
        final List<Section> sections = new ArrayList<>();
        for (int index = 0; index < requested; index++) {
            if (random.nextInt(3) == 0) {
                continue;
            }
            final long from = random.nextInt(100) - 1L;
            final long lostTo = random.nextInt(3) == 0 ? from + 1 + random.nextInt(5) : 0;
            long version = Math.max(from, lostTo);
            final List<Change> changes = new ArrayList<>();
            for (int i = random.nextInt(5); i > 0; i--) {
                version += 1 + random.nextInt(3);
                final ChangeType type = ChangeType.of(random.nextInt(ChangeType.count()));
                changes.add(new Change(
                        version,
                        type,
                        bytes(random, 40),
                        type.hasValue() ? bytes(random, 200) : null,
                        random.nextBoolean() ? bytes(random, 100) : null,
                        type.hasValue() && random.nextBoolean()));
            }
            final Status status = changes.isEmpty() ? Status.of(random.nextInt(Status.values().length)) : Status.OK;
            sections.add(
                    status != Status.OK && lostTo == 0
                            ? new Section(
                                    index, status, from, 0, from, changes) // also from now on: without a position yet
                            : new Section(
                                    index,
                                    status,
                                    from,
                                    Math.max(0, lostTo),
                                    Math.max(0, version) + random.nextInt(3),
                                    changes));
        }
        return sections;
    }

    private static ByteBuffer written(FrameEncoder out) {
        final ByteBuffer copy = ByteBuffer.allocate(out.pending()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < copy.capacity(); i++) {
            copy.put(i, out.buffer().get(i));
        }
        return copy;
    }

    private static String text(List<Section> sections) {
        final StringBuilder text = new StringBuilder();
        for (Section each : sections) {
            text.append(each.index()).append(each.status()).append(each.from()).append('-');
            text.append(each.lostTo()).append('-').append(each.to());
            for (Change change : each.changes()) {
                text.append(' ').append(change.version()).append(change.type()).append(change.inParts());
                text.append(java.util.Arrays.toString(change.key()));
                text.append(java.util.Arrays.toString(change.value()));
                text.append(java.util.Arrays.toString(change.oldValue()));
            }
            text.append('\n');
        }
        return text.toString();
    }

    @Property(tries = 300)
    void shouldReadWhatWasWritten(@ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int requested)
            throws WireException {
        final List<Section> sections = sections(new Random(seed), requested);
        final FrameEncoder out = new FrameEncoder(64);
        ChangesDescriptor.write(out, 77, sections);
        final ByteBuffer frame = written(out);
        assertThat(FrameHeadDescriptor.number(frame, 0)).isEqualTo(77);
        ChangesDescriptor.check(frame, 0, frame.capacity(), requested);
        assertThat(text(ChangesDescriptor.read(frame, 0))).isEqualTo(text(sections));
    }

    private static List<Section> map(List<Section> sections, UnaryOperator<Change> of) {
        return sections.stream()
                .map(each -> new Section(
                        each.index(),
                        each.status(),
                        each.from(),
                        each.lostTo(),
                        each.to(),
                        each.changes().stream().map(of).toList()))
                .toList();
    }

    /** As a change that has no room for its old value in a frame. */
    @Property(tries = 100)
    void shouldLoseNothingButTheOldValueOfAShortenedChange(@ForAll long seed) throws WireException {
        final List<Section> sections = sections(new Random(seed), 6);
        final FrameEncoder out = new FrameEncoder(64);
        ChangesDescriptor.write(out, 1, map(sections, Change::withoutOldValue));
        final ByteBuffer frame = written(out);
        ChangesDescriptor.check(frame, 0, frame.capacity(), 6);
        final List<Section> expected = map(
                sections,
                change -> new Change(
                        change.version(), change.type(), change.key(), change.value(), null, change.inParts()));
        assertThat(text(ChangesDescriptor.read(frame, 0))).isEqualTo(text(expected));
    }

    /** All that passes the check can be decoded, and is in order. */
    @Property(tries = 2_000)
    void shouldRefuseOrReadWhatWasChangedOnTheWay(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 6) int requested) {
        final Random random = new Random(seed);
        final FrameEncoder out = new FrameEncoder(64);
        ChangesDescriptor.write(out, 1, sections(random, requested));
        final ByteBuffer frame = written(out);
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            frame.put(
                    FrameHeadDescriptor.SMALL_OFFSET + random.nextInt(frame.capacity() - 12), (byte) random.nextInt());
        }
        final int length = random.nextInt(4) == 0 ? 24 + random.nextInt(frame.capacity() - 23) : frame.capacity();
        try {
            ChangesDescriptor.check(frame, 0, length, requested);
        } catch (WireException e) {
            assertThat(e.fault()).isEqualTo(WireFault.BAD_FRAME);
            return;
        }
        for (Section section : ChangesDescriptor.read(frame, 0)) {
            long version = Math.max(section.from(), section.lostTo());
            for (Change change : section.changes()) {
                assertThat(change.version()).isGreaterThan(version).isLessThanOrEqualTo(section.to());
                version = change.version();
            }
        }
    }

    private static ByteBuffer request(int waitMs, long position, int sections) {
        final FrameEncoder out = new FrameEncoder(64);
        final int at = ChangesRequestDescriptor.begin(out, 5, 9, waitMs, sections);
        for (int i = 0; i < sections; i++) {
            ChangesRequestDescriptor.section(out, at, i, position + i, 3 + i, 40 + i, i % 2 == 1);
        }
        ChangesRequestDescriptor.end(out, at);
        return written(out);
    }

    @Example
    void shouldReadARequestForChangesAsItWasWritten() throws WireException {
        final ByteBuffer frame = request(2_000, ChangesRequestDescriptor.FROM_NOW, 3);
        ChangesRequestDescriptor.check(frame, 0, frame.capacity());
        assertThat(ChangesRequestDescriptor.sections(frame, 0)).isEqualTo(3);
        assertThat(ChangesRequestDescriptor.term(frame, 0)).isEqualTo(9);
        assertThat(ChangesRequestDescriptor.waitMs(frame, 0)).isEqualTo(2_000);
        for (int i = 0; i < 3; i++) {
            assertThat(ChangesRequestDescriptor.position(frame, 0, i)).isEqualTo(i - 1);
            assertThat(ChangesRequestDescriptor.cacheId(frame, 0, i)).isEqualTo(3 + i);
            assertThat(ChangesRequestDescriptor.shard(frame, 0, i)).isEqualTo(40 + i);
            assertThat(ChangesRequestDescriptor.oldValues(frame, 0, i)).isEqualTo(i == 1);
        }
    }

    @Example
    void shouldRefuseSenselessRequestsForChanges() {
        final List<ByteBuffer> wrong = List.of(
                request(-1, 0, 1),
                request(ChangesRequestDescriptor.MAX_WAIT_MS + 1, 0, 1),
                request(0, -2, 1),
                request(0, 0, 2).putInt(FrameHeadDescriptor.SMALL_OFFSET, 3),
                request(0, 0, 2).putInt(FrameHeadDescriptor.SMALL_OFFSET, -1),
                request(0, 0, 2).putInt(FrameHeadDescriptor.SMALL_OFFSET, Integer.MAX_VALUE),
                request(0, 0, 1).putInt(ChangesRequestDescriptor.ZERO_OFFSET, 1),
                request(0, 0, 1).putInt(ChangesRequestDescriptor.FIXED_LENGTH + 16, 2),
                request(0, 0, 1).putInt(ChangesRequestDescriptor.FIXED_LENGTH + 20, 1));
        for (ByteBuffer each : wrong) {
            assertThatThrownBy(() -> ChangesRequestDescriptor.check(each, 0, each.capacity()))
                    .isInstanceOf(WireException.class);
        }
    }
}
