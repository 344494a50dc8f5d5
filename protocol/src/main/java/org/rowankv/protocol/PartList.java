package org.rowankv.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What is stored under a key whose value is in parts. Little-endian; a part of the format on disk:
 *
 * <pre>
 *   0        1    9        13            17    21
 *   +--------+----+--------+-------------+-----+
 *   | format | id | length | part length | crc |
 *   +--------+----+--------+-------------+-----+
 * </pre>
 *
 * @param id names the parts; used for one value only
 * @param length of the value in bytes
 * @param partLength bytes of each part but the last, which has the rest
 * @param crc CRC32C of the value
 */
public record PartList(long id, int length, int partLength, int crc) {
    /** Bytes of a list. */
    public static final int LENGTH = 21;
    /** The longest value in parts. */
    public static final int MAX_VALUE = 256 << 20;

    private static final byte FORMAT = 1;
    private static final int ID_OFFSET = 1;
    private static final int LENGTH_OFFSET = ID_OFFSET + Long.BYTES;
    private static final int PART_LENGTH_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    private static final int CRC_OFFSET = PART_LENGTH_OFFSET + Integer.BYTES;

    /** The list of a value that lies in an array. */
    public static PartList of(long id, byte[] value, int offset, int length, int partLength) {
        return new PartList(id, length, partLength, crcOf(value, offset, length));
    }

    /** The checksum of a value. */
    public static int crcOf(byte[] value, int offset, int length) {
        final CRC32C crc = new CRC32C();
        crc.update(value, offset, length);
        return (int) crc.getValue();
    }

    /** How many parts the value has. */
    public int count() {
        return (length - 1) / partLength + 1;
    }

    /** Where a part begins in the value. */
    public int offsetOf(int number) {
        return number * partLength;
    }

    /** The length of a part. */
    public int lengthOf(int number) {
        return Math.min(partLength, length - offsetOf(number));
    }

    public byte[] toBytes() {
        return ByteBuffer.allocate(LENGTH)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(FORMAT)
                .putLong(id)
                .putInt(length)
                .putInt(partLength)
                .putInt(crc)
                .array();
    }

    /** Reads a list; null if the bytes are none, or one of another format. */
    public static @Nullable PartList read(byte[] bytes, int offset, int bytesLength) {
        return read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), offset, bytesLength);
    }

    /** As above, from a buffer in little-endian order. */
    public static @Nullable PartList read(ByteBuffer bytes, int at, int bytesLength) {
        if (bytesLength != LENGTH || bytes.get(at) != FORMAT) {
            return null;
        }
        final int valueLength = bytes.getInt(at + LENGTH_OFFSET);
        final int partLength = bytes.getInt(at + PART_LENGTH_OFFSET);
        return valueLength < 1 || valueLength > MAX_VALUE || partLength < 1
                ? null
                : new PartList(bytes.getLong(at + ID_OFFSET), valueLength, partLength, bytes.getInt(at + CRC_OFFSET));
    }
}
