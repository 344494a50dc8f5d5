package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of the response to a request for changes: the frame's head, then its sections, each
 *
 * <pre>
 *   0       4        8      16        24   32      36     40
 *   +-------+--------+------+---------+----+-------+------+-----------------------------------//--+
 *   | index | status | from | lost to | to | count | zero | per change: version 8, type 4,         |
 *   |       |        |      |         |    |       |      | key length 4, value length 4,          |
 *   |       |        |      |         |    |       |      | old value length 4, key, values        |
 *   +-------+--------+------+---------+----+-------+------+-----------------------------------//--+
 * </pre>
 *
 * <p>In the head, small: the number of sections. Index: of the section in the request; empty ones are omitted.
 * From: the requested position. Lost to: 0, or changes after {@code from} up to here may be missing.
 * To: the position of the next request; all changes up to there are included. A length of −1: no such value.
 * Bit 8 of a type: the value is a {@link org.rowankv.protocol.PartList}.
 */
public final class ChangesDescriptor {
    static final int FIXED_LENGTH = FrameHeadDescriptor.HEAD_LENGTH;
    static final int INDEX_OFFSET = 0;
    static final int STATUS_OFFSET = 4;
    static final int FROM_OFFSET = 8;
    static final int LOST_OFFSET = 16;
    static final int TO_OFFSET = 24;
    static final int COUNT_OFFSET = 32;
    static final int ZERO_OFFSET = 36;
    /** Bytes of a section without its changes. */
    public static final int SECTION_LENGTH = 40;

    static final int VERSION_OFFSET = 0;
    static final int TYPE_OFFSET = 8;
    static final int KEY_LENGTH_OFFSET = 12;
    static final int VALUE_LENGTH_OFFSET = 16;
    static final int OLD_LENGTH_OFFSET = 20;
    /** Bytes of a change without key and values. */
    public static final int CHANGE_LENGTH = 24;

    static final int NO_VALUE = -1;
    static final int IN_PARTS = 1 << 8;

    /**
     * Response to one section of a request.
     *
     * @param index of the section
     * @param from the requested position
     * @param lostTo 0, or the version up to which changes after {@code from} may be missing
     * @param to the position of the next request
     */
    public record Section(int index, Status status, long from, long lostTo, long to, List<Change> changes) {}

    private ChangesDescriptor() {}

    private static int lengthOf(Section section) {
        long length = SECTION_LENGTH;
        for (Change change : section.changes()) {
            length += CHANGE_LENGTH + change.length();
        }
        return Math.toIntExact(length);
    }

    public static void write(FrameEncoder out, long number, List<Section> sections) {
        int length = FIXED_LENGTH;
        for (Section section : sections) {
            length = Math.addExact(length, lengthOf(section));
        }
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(buffer, at, length, ClientFrameDescriptor.CHANGES, 0, 0, 0, sections.size(), number);
        int to = at + FIXED_LENGTH;
        for (Section section : sections) {
            buffer.putInt(to + INDEX_OFFSET, section.index())
                    .putInt(to + STATUS_OFFSET, section.status().ordinal())
                    .putLong(to + FROM_OFFSET, section.from())
                    .putLong(to + LOST_OFFSET, section.lostTo())
                    .putLong(to + TO_OFFSET, section.to())
                    .putInt(to + COUNT_OFFSET, section.changes().size())
                    .putInt(to + ZERO_OFFSET, 0);
            to += SECTION_LENGTH;
            for (Change change : section.changes()) {
                to = write(buffer, to, change);
            }
        }
        out.seal(at);
    }

    private static int write(ByteBuffer buffer, int at, Change change) {
        buffer.putLong(at + VERSION_OFFSET, change.version())
                .putInt(at + TYPE_OFFSET, change.type().ordinal() | (change.inParts() ? IN_PARTS : 0))
                .putInt(at + KEY_LENGTH_OFFSET, change.key().length)
                .putInt(at + VALUE_LENGTH_OFFSET, lengthOf(change.value()))
                .putInt(at + OLD_LENGTH_OFFSET, lengthOf(change.oldValue()))
                .put(at + CHANGE_LENGTH, change.key());
        return put(buffer, put(buffer, at + CHANGE_LENGTH + change.key().length, change.value()), change.oldValue());
    }

    private static int lengthOf(byte @Nullable [] value) {
        return value == null ? NO_VALUE : value.length;
    }

    private static int put(ByteBuffer buffer, int at, byte @Nullable [] value) {
        if (value == null) {
            return at;
        }
        buffer.put(at, value);
        return at + value.length;
    }

    /**
     * Fails if the frame is no such answer to a question with so many sections; nothing of it is believed before all of it was
     * looked at.
     */
    public static void check(ByteBuffer buffer, int at, int length, int asked) throws WireException {
        final int count = FrameHeadDescriptor.small(buffer, at);
        if (count < 0 || count > asked) {
            throw new WireException(WireFault.BAD_FRAME, "changes in " + count + " sections of " + asked);
        }
        int from = at + FIXED_LENGTH;
        final int end = at + length;
        int last = -1;
        for (int i = 0; i < count; i++) {
            if (end - from < SECTION_LENGTH) {
                throw new WireException(WireFault.BAD_FRAME, "a section of changes that ends behind its frame");
            }
            final int index = buffer.getInt(from + INDEX_OFFSET);
            if (index <= last || index >= asked) {
                throw new WireException(WireFault.BAD_FRAME, "changes in section " + index + " of " + asked);
            }
            last = index;
            from = checkSection(buffer, from, end);
        }
        ClientFrameDescriptor.requireLength(length, from - at);
    }

    private static int checkSection(ByteBuffer buffer, int at, int end) throws WireException {
        final int status = buffer.getInt(at + STATUS_OFFSET);
        final long asked = buffer.getLong(at + FROM_OFFSET);
        final long lost = buffer.getLong(at + LOST_OFFSET);
        final long to = buffer.getLong(at + TO_OFFSET);
        final int count = buffer.getInt(at + COUNT_OFFSET);
        if (status < 0
                || status >= Status.values().length
                || asked < ChangesRequestDescriptor.FROM_NOW
                || lost != 0 && lost <= asked
                || to < asked
                || lost < 0
                || to < lost
                        && (lost != 0 || status == Status.OK.ordinal()) // a refused subscriber may have no position yet
                || count < 0
                || buffer.getInt(at + ZERO_OFFSET) != 0) {
            throw new WireException(WireFault.BAD_FRAME, "a section of changes from " + asked + " to " + to);
        }
        long version = Math.max(asked, lost);
        int from = at + SECTION_LENGTH;
        for (int i = 0; i < count; i++) {
            final int left = end - from - CHANGE_LENGTH;
            final long next = left < 0 ? 0 : buffer.getLong(from + VERSION_OFFSET);
            if (left < 0 || next <= version || next > to) {
                throw new WireException(WireFault.BAD_FRAME, "a change that does not follow " + version);
            }
            version = next;
            final boolean inParts = (buffer.getInt(from + TYPE_OFFSET) & IN_PARTS) != 0;
            final int type = buffer.getInt(from + TYPE_OFFSET) & ~IN_PARTS;
            final int key = buffer.getInt(from + KEY_LENGTH_OFFSET);
            final int value = buffer.getInt(from + VALUE_LENGTH_OFFSET);
            final int old = buffer.getInt(from + OLD_LENGTH_OFFSET);
            if (type < 0
                    || type >= ChangeType.count()
                    || key < 0
                    || value < NO_VALUE
                    || old < NO_VALUE
                    || value != NO_VALUE != ChangeType.of(type).hasValue()
                    || inParts && value == NO_VALUE
                    || (long) key + Math.max(0, value) + Math.max(0, old) > left) {
                throw new WireException(
                        WireFault.BAD_FRAME,
                        "a change of type " + type + " with a key of " + key + " bytes and values of " + value + " and "
                                + old);
            }
            from += CHANGE_LENGTH + key + Math.max(0, value) + Math.max(0, old);
        }
        return from;
    }

    /** Reads an answer that was checked. */
    public static List<Section> read(ByteBuffer buffer, int at) {
        final List<Section> sections = new ArrayList<>();
        int from = at + FIXED_LENGTH;
        for (int left = FrameHeadDescriptor.small(buffer, at); left > 0; left--) {
            final List<Change> changes = new ArrayList<>();
            sections.add(new Section(
                    buffer.getInt(from + INDEX_OFFSET),
                    Status.of(buffer.getInt(from + STATUS_OFFSET)),
                    buffer.getLong(from + FROM_OFFSET),
                    buffer.getLong(from + LOST_OFFSET),
                    buffer.getLong(from + TO_OFFSET),
                    changes));
            final int count = buffer.getInt(from + COUNT_OFFSET);
            from += SECTION_LENGTH;
            for (int i = 0; i < count; i++) {
                final Change change = change(buffer, from);
                changes.add(change);
                from += CHANGE_LENGTH + (int) change.length();
            }
        }
        return sections;
    }

    private static Change change(ByteBuffer buffer, int at) {
        final byte[] key = new byte[buffer.getInt(at + KEY_LENGTH_OFFSET)];
        final int valueLength = buffer.getInt(at + VALUE_LENGTH_OFFSET);
        final int oldLength = buffer.getInt(at + OLD_LENGTH_OFFSET);
        buffer.get(at + CHANGE_LENGTH, key);
        final int valueAt = at + CHANGE_LENGTH + key.length;
        return new Change(
                buffer.getLong(at + VERSION_OFFSET),
                ChangeType.of(buffer.getInt(at + TYPE_OFFSET) & ~IN_PARTS),
                key,
                bytes(buffer, valueAt, valueLength),
                bytes(buffer, valueAt + Math.max(0, valueLength), oldLength),
                (buffer.getInt(at + TYPE_OFFSET) & IN_PARTS) != 0);
    }

    private static byte @Nullable [] bytes(ByteBuffer buffer, int at, int length) {
        if (length < 0) {
            return null;
        }
        final byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return bytes;
    }
}
