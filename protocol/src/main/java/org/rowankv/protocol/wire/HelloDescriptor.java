package org.rowankv.protocol.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Layout of the two frames of the handshake. Little-endian.
 *
 * <pre>
 *   hello, from the client
 *   0       8     12       16        20      24           32          36     40
 *   +-------+-----+--------+---------+-------+------------+-----------+------+
 *   | magic | crc | length | version | flags | cluster id | max frame | zero |
 *   +-------+-----+--------+---------+-------+------------+-----------+------+
 *
 *   welcome or refusal, from the server
 *   0       8     12       16        20       24           32     40       44          48              52     56
 *   +-------+-----+--------+---------+--------+------------+------+--------+-----------+---------------+------+--//--+
 *   | magic | crc | length | version | status | cluster id | term | server | max frame | max in flight | zero | text |
 *   +-------+-----+--------+---------+--------+------------+------+--------+-----------+---------------+------+--//--+
 * </pre>
 *
 * <p>The crc is a CRC32C over everything behind it. The first 20 bytes of the hello and the first 24 of its answer mean the same
 * in every version.
 */
public final class HelloDescriptor {
    /** "RowanCli" in memory order. */
    static final long MAGIC = 0x696c_436e_6177_6f52L;

    /** Of the protocol that this code speaks. */
    public static final int VERSION = 2;

    static final int MAGIC_OFFSET = 0;
    public static final int CRC_OFFSET = 8;
    public static final int LENGTH_OFFSET = 12;
    public static final int VERSION_OFFSET = 16;
    /** As many bytes of a hello as mean the same in every version. */
    public static final int PREFIX_LENGTH = 20;

    public static final int FLAGS_OFFSET = 20;
    static final int HELLO_CLUSTER_OFFSET = 24;
    static final int HELLO_MAX_FRAME_OFFSET = 32;
    static final int HELLO_ZERO_OFFSET = 36;
    /** Bytes of a hello. */
    public static final int HELLO_LENGTH = 40;
    /** Of whatever version. */
    public static final int MAX_HELLO = 1024;

    static final int STATUS_OFFSET = 20;
    public static final int CLUSTER_OFFSET = 24;
    public static final int TERM_OFFSET = 32;
    static final int SERVER_OFFSET = 40;
    static final int MAX_FRAME_OFFSET = 44;
    static final int MAX_IN_FLIGHT_OFFSET = 48;
    static final int ZERO_OFFSET = 52;
    /** Bytes of a welcome without its text. */
    public static final int WELCOME_LENGTH = 56;

    static final int MAX_TEXT = 512;
    /** The longest welcome or refusal. */
    public static final int MAX_WELCOME = WELCOME_LENGTH + MAX_TEXT;

    public static final int WELCOME = 0;
    public static final int REFUSED_VERSION = 1;
    public static final int REFUSED_CLUSTER = 2;
    public static final int REFUSED_FULL = 3;
    public static final int REFUSED_CLOSED = 4;

    /** A length that no frame of this protocol can do without. */
    static final int LEAST_MAX_FRAME = 1 << 10;

    /**
     * Who comes.
     *
     * @param clusterId 0: whichever it is
     * @param maxFrame the longest frame that it accepts
     */
    public record Hello(long clusterId, int maxFrame) {}

    /**
     * What it is told.
     *
     * @param version of the protocol that the server speaks
     * @param status {@link #WELCOME}, or why not
     * @param maxFrame the longest frame that the server accepts
     * @param maxInFlight requests without an answer that a connection may have
     */
    public record Welcome(
            int version,
            int status,
            long clusterId,
            long term,
            int serverId,
            int maxFrame,
            int maxInFlight,
            String text) {}

    private HelloDescriptor() {}

    private static void finish(ByteBuffer buffer, int length) {
        buffer.putLong(MAGIC_OFFSET, MAGIC).putInt(LENGTH_OFFSET, length);
        buffer.putInt(CRC_OFFSET, new FrameChecksum().of(buffer, LENGTH_OFFSET, length - LENGTH_OFFSET));
    }

    public static ByteBuffer hello(Hello hello) {
        final ByteBuffer buffer = ByteBuffer.allocate(HELLO_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(VERSION_OFFSET, VERSION)
                .putLong(HELLO_CLUSTER_OFFSET, hello.clusterId())
                .putInt(HELLO_MAX_FRAME_OFFSET, hello.maxFrame());
        finish(buffer, HELLO_LENGTH);
        return buffer;
    }

    public static ByteBuffer welcome(Welcome welcome) {
        byte[] text = welcome.text().getBytes(UTF_8);
        if (text.length > MAX_TEXT) {
            text = java.util.Arrays.copyOf(text, MAX_TEXT);
        }
        final int length = WELCOME_LENGTH + text.length;
        final ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(VERSION_OFFSET, welcome.version())
                .putInt(STATUS_OFFSET, welcome.status())
                .putLong(CLUSTER_OFFSET, welcome.clusterId())
                .putLong(TERM_OFFSET, welcome.term())
                .putInt(SERVER_OFFSET, welcome.serverId())
                .putInt(MAX_FRAME_OFFSET, welcome.maxFrame())
                .putInt(MAX_IN_FLIGHT_OFFSET, welcome.maxInFlight())
                .put(WELCOME_LENGTH, text);
        finish(buffer, length);
        return buffer;
    }

    /**
     * The length of the frame of which so many bytes have come, as soon as it can be told; 0 before.
     *
     * @param longest of this kind
     */
    private static int length(ByteBuffer buffer, int have, int longest) throws ProtocolException {
        for (int i = 0; i < Math.min(have, CRC_OFFSET); i++) {
            if (buffer.get(i) != (byte) (MAGIC >>> 8 * i)) {
                throw new ProtocolException(ProtocolFault.FOREIGN_PROTOCOL, "other first bytes");
            }
        }
        if (have < PREFIX_LENGTH) {
            return 0;
        }
        final int length = buffer.getInt(LENGTH_OFFSET);
        if (length < PREFIX_LENGTH || length > longest) {
            throw new ProtocolException(ProtocolFault.BAD_LENGTH, "of a handshake: " + length);
        }
        return length;
    }

    private static boolean isWhole(ByteBuffer buffer, int have, int longest) throws ProtocolException {
        final int length = length(buffer, have, longest);
        if (length == 0 || have < length) {
            return false;
        }
        if (buffer.getInt(CRC_OFFSET) != new FrameChecksum().of(buffer, LENGTH_OFFSET, length - LENGTH_OFFSET)) {
            throw new ProtocolException(ProtocolFault.BAD_CHECKSUM, "of a handshake");
        }
        return true;
    }

    /** The hello, from the beginning of the buffer to its position; null while it is not whole. */
    public static @Nullable Hello readHello(ByteBuffer buffer) throws ProtocolException {
        if (!isWhole(buffer, buffer.position(), MAX_HELLO)) {
            return null;
        }
        if (buffer.getInt(VERSION_OFFSET) != VERSION) {
            throw new ProtocolException(
                    ProtocolFault.OTHER_VERSION,
                    "the client speaks version " + buffer.getInt(VERSION_OFFSET) + ", this server " + VERSION
                            + "; use a client and a server of the same release");
        }
        final int maxFrame = buffer.getInt(HELLO_MAX_FRAME_OFFSET);
        if (buffer.getInt(LENGTH_OFFSET) != HELLO_LENGTH
                || buffer.getInt(FLAGS_OFFSET) != 0
                || buffer.getInt(HELLO_ZERO_OFFSET) != 0
                || maxFrame < LEAST_MAX_FRAME) {
            throw new ProtocolException(ProtocolFault.BAD_FRAME, "a hello of version " + VERSION + " that is none");
        }
        return new Hello(buffer.getLong(HELLO_CLUSTER_OFFSET), maxFrame);
    }

    /** How many bytes a hello may have at most, whoever speaks: room for that is enough. */
    public static int longestHello() {
        return MAX_HELLO;
    }

    /** How many bytes the welcome at the beginning of the buffer lacks at least; what follows it is never among them. */
    public static int missing(ByteBuffer buffer) throws ProtocolException {
        final int have = buffer.position();
        final int length = length(buffer, have, MAX_WELCOME);
        return (length == 0 ? PREFIX_LENGTH : length) - have;
    }

    /** The welcome or refusal, from the beginning of the buffer to its position; null while it is not whole. */
    public static @Nullable Welcome readWelcome(ByteBuffer buffer) throws ProtocolException {
        if (!isWhole(buffer, buffer.position(), MAX_WELCOME)) {
            return null;
        }
        final int length = buffer.getInt(LENGTH_OFFSET);
        final int version = buffer.getInt(VERSION_OFFSET);
        if (length < WELCOME_LENGTH) {
            throw new ProtocolException(
                    version == VERSION ? ProtocolFault.BAD_LENGTH : ProtocolFault.OTHER_VERSION,
                    "a welcome of version " + version + " with " + length + " bytes");
        }
        final byte[] text = new byte[length - WELCOME_LENGTH];
        buffer.get(WELCOME_LENGTH, text);
        final Welcome welcome = new Welcome(
                version,
                buffer.getInt(STATUS_OFFSET),
                buffer.getLong(CLUSTER_OFFSET),
                buffer.getLong(TERM_OFFSET),
                buffer.getInt(SERVER_OFFSET),
                buffer.getInt(MAX_FRAME_OFFSET),
                buffer.getInt(MAX_IN_FLIGHT_OFFSET),
                printable(new String(text, UTF_8)));
        if (welcome.status() == WELCOME
                && (version != VERSION
                        || buffer.getInt(ZERO_OFFSET) != 0
                        || welcome.maxFrame() < LEAST_MAX_FRAME
                        || welcome.maxInFlight() < 1
                        || welcome.serverId() < 0)) {
            throw new ProtocolException(ProtocolFault.BAD_FRAME, "a welcome that cannot be meant");
        }
        return welcome;
    }

    /** A server's text stands in a client's log: it writes no lines of its own there, and steers no terminal. */
    private static String printable(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    }
}
