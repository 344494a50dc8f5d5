package org.rowankv.server.configstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Layout of a node as bytes, in a file or in a coordination service, little endian.
 *
 * <pre>
 *   0  magic "RKVN"                      4
 *   4  format version                    4
 *   8  checksum, CRC32C of 16 .. end     4
 *  12  length of the bytes               4
 *  16  version of the node               8
 *  24  nonce of the stamp                8
 *  32  length of the path                4
 *  36  length of the writer's name       4
 *  40  path, UTF-8
 *      writer's name, UTF-8
 *      bytes
 * </pre>
 *
 * <p>A file is never changed in place, so there is no order of writing; the checksum detects damage by a crash or a disk.
 */
public final class NodeDescriptor {
    static final int MAGIC = 0x4e564b52; // "RKVN" in memory order
    static final int FORMAT_VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int CHECKSUM_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    static final int LENGTH_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;
    static final int VERSION_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    static final int NONCE_OFFSET = VERSION_OFFSET + Long.BYTES;
    static final int PATH_LENGTH_OFFSET = NONCE_OFFSET + Long.BYTES;
    static final int WRITER_LENGTH_OFFSET = PATH_LENGTH_OFFSET + Integer.BYTES;
    static final int HEADER_LENGTH = WRITER_LENGTH_OFFSET + Integer.BYTES;

    private NodeDescriptor() {}

    public static byte[] encode(String path, VersionedNode node) {
        final byte[] pathBytes = path.getBytes(StandardCharsets.UTF_8);
        final byte[] writer = node.stamp().writer().getBytes(StandardCharsets.UTF_8);
        final byte[] bytes = node.bytes();
        final ByteBuffer buffer = ByteBuffer.allocate(HEADER_LENGTH + pathBytes.length + writer.length + bytes.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(MAGIC_OFFSET, MAGIC)
                .putInt(FORMAT_VERSION_OFFSET, FORMAT_VERSION)
                .putInt(LENGTH_OFFSET, bytes.length)
                .putLong(VERSION_OFFSET, node.version())
                .putLong(NONCE_OFFSET, node.stamp().nonce())
                .putInt(PATH_LENGTH_OFFSET, pathBytes.length)
                .putInt(WRITER_LENGTH_OFFSET, writer.length);
        buffer.position(HEADER_LENGTH).put(pathBytes).put(writer).put(bytes);
        buffer.putInt(CHECKSUM_OFFSET, checksum(buffer));
        return buffer.array();
    }

    /** Why the file is not a node that this version reads, or null. */
    public static @Nullable String whyInvalid(byte[] file) {
        if (file.length < HEADER_LENGTH) {
            return "it has " + file.length + " bytes only";
        }
        final ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        if (buffer.getInt(MAGIC_OFFSET) != MAGIC) {
            return "it is not a node";
        }
        final int version = buffer.getInt(FORMAT_VERSION_OFFSET);
        if (version != FORMAT_VERSION) {
            return "it has format version " + version + ", this version of Rowan-KV reads " + FORMAT_VERSION
                    + "; open it with the version that wrote it";
        }
        if (buffer.getInt(CHECKSUM_OFFSET) != checksum(buffer)) {
            return "its checksum is wrong";
        }
        final long pathLength = buffer.getInt(PATH_LENGTH_OFFSET);
        final long writerLength = buffer.getInt(WRITER_LENGTH_OFFSET);
        final long length = buffer.getInt(LENGTH_OFFSET);
        if (pathLength < 0
                || writerLength < 0
                || length < 0
                || HEADER_LENGTH + pathLength + writerLength + length != file.length) {
            return "its lengths do not add up";
        }
        return null;
    }

    /** Call the readers only if {@link #whyInvalid} is null. */
    public static String path(byte[] file) {
        final int length = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt(PATH_LENGTH_OFFSET);
        return new String(file, HEADER_LENGTH, length, StandardCharsets.UTF_8);
    }

    public static VersionedNode node(byte[] file) {
        final ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        final int writerLength = buffer.getInt(WRITER_LENGTH_OFFSET);
        final int writerAt = HEADER_LENGTH + buffer.getInt(PATH_LENGTH_OFFSET);
        final String writer = new String(file, writerAt, writerLength, StandardCharsets.UTF_8);
        final byte[] bytes = new byte[buffer.getInt(LENGTH_OFFSET)];
        buffer.get(writerAt + writerLength, bytes);
        return new VersionedNode(
                bytes, buffer.getLong(VERSION_OFFSET), new Stamp(writer, buffer.getLong(NONCE_OFFSET)));
    }

    private static int checksum(ByteBuffer buffer) {
        final CRC32C crc = new CRC32C();
        crc.update(buffer.duplicate().clear().position(VERSION_OFFSET));
        return (int) crc.getValue();
    }
}
