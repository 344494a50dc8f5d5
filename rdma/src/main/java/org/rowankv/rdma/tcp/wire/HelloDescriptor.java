package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.rowankv.rdma.secret.ClusterSecret;

/**
 * Layout of the first and the last frame of the handshake. Little-endian. The first 24 bytes of both, and all of a refusal, mean the
 * same in every version of the protocol, so that two versions can tell each other what is wrong.
 *
 * <pre>
 *   hello
 *   0       8      12       16        20     24        32     36   40            48          56     64      72
 *   +-------+------+--------+---------+------+---------+------+----+-------------+-----------+------+-------+--
 *   | magic | crc  | length | version | kind | cluster | from | to | incarnation | expected  | term | nonce |
 *   +-------+------+--------+---------+------+---------+------+----+-------------+-----------+------+-------+--
 *  72              80            84           88       92     96            112
 * --+--------------+-------------+------------+--------+------+-------------+----//----+
 *   | pair number  | max message | live count | method | zero | fresh nonce | live ... |
 * --+--------------+-------------+------------+--------+------+-------------+----//----+
 *
 *   welcome
 *   0       8      12       16        20       24            32     40             48               52              56
 *   +-------+------+--------+---------+--------+-------------+------+--------------+----------------+---------------+--
 *   | magic | crc  | length | version | status | incarnation | term | segment base | segment length | segment count |
 *   +-------+------+--------+---------+--------+-------------+------+--------------+----------------+---------------+--
 *  56            60      64    96
 * --+-------------+-------+-----+----//----+
 *   | max message | flags | MAC | text ... |
 * --+-------------+-------+-----+----//----+
 * </pre>
 *
 * <p>The crc is a CRC32C over the bytes from 12 to the length. Fresh nonce and MAC are zero with method none; a refusal
 * before the caller has proved anything has no MAC either. {@link ProofDescriptor} has the frames in between.
 */
public final class HelloDescriptor {
    /** "RowanSrv", as the bytes come. */
    static final long MAGIC = 0x7672_536e_6177_6f52L;

    public static final int VERSION = 2;
    public static final int KIND_QUEUE_PAIR = 1;
    public static final int KIND_MESSAGES = 2;

    static final int MAGIC_OFFSET = 0;
    public static final int CRC_OFFSET = 8;
    public static final int LENGTH_OFFSET = 12;
    public static final int VERSION_OFFSET = 16;
    /** What both frames of all versions have. */
    public static final int PREFIX_LENGTH = 24;

    public static final int KIND_OFFSET = 20;
    public static final int CLUSTER_OFFSET = 24;
    public static final int FROM_OFFSET = 32;
    public static final int TO_OFFSET = 36;
    public static final int INCARNATION_OFFSET = 40;
    public static final int EXPECTED_OFFSET = 48;
    public static final int TERM_OFFSET = 56;
    public static final int NONCE_OFFSET = 64;
    public static final int PAIR_OFFSET = 72;
    public static final int MAX_MESSAGE_OFFSET = 80;
    static final int LIVE_COUNT_OFFSET = 84;
    public static final int METHOD_OFFSET = 88;
    static final int ZERO_OFFSET = 92;
    public static final int FRESH_OFFSET = 96;
    static final int FRESH_LENGTH = 2 * Long.BYTES;
    public static final int HELLO_LENGTH = FRESH_OFFSET + FRESH_LENGTH;

    static final int STATUS_OFFSET = 20;
    public static final int WELCOME_INCARNATION_OFFSET = 24;
    public static final int WELCOME_TERM_OFFSET = 32;
    public static final int SEGMENT_BASE_OFFSET = 40;
    static final int SEGMENT_LENGTH_OFFSET = 48;
    static final int SEGMENT_COUNT_OFFSET = 52;
    public static final int WELCOME_MAX_MESSAGE_OFFSET = 56;
    public static final int FLAGS_OFFSET = 60;
    public static final int MAC_OFFSET = 64;
    public static final int MAC_LENGTH = ClusterSecret.MAC_LENGTH;
    public static final int WELCOME_LENGTH = MAC_OFFSET + MAC_LENGTH;

    /** In the welcome's flags: a segment is posted that this queue pair may land in. */
    public static final int READY = 1;

    /** Most queue pairs that one server has to another. */
    public static final int MAX_LIVE = 1024;

    static final int MAX_TEXT = 512;
    public static final int MAX_HELLO = HELLO_LENGTH + MAX_LIVE * Long.BYTES;
    public static final int MAX_WELCOME = WELCOME_LENGTH + MAX_TEXT;

    private HelloDescriptor() {}

    /**
     * Who calls whom.
     *
     * @param expected the incarnation that is called; 0 on a message link, which calls whichever there is
     * @param nonce drawn by the calling process, so that a second one with the same names is told from it
     * @param pair number of the queue pair; of two of one process the later has the higher
     * @param live numbers of the caller's queue pairs to this server that still live; lower ones not in it are dead
     * @param method by which the caller proves its identity, one of {@link PeerAuthentication}
     * @param freshHigh drawn for this connection, with the next; 0 with method none
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record Hello(
            int kind,
            long cluster,
            int from,
            int to,
            long incarnation,
            long expected,
            long term,
            long nonce,
            long pair,
            int maxMessage,
            long[] live,
            int method,
            long freshHigh,
            long freshLow) {

        /** The same, for a connection that is authenticated so. */
        public Hello provedBy(PeerAuthentication authentication) {
            final boolean fresh = authentication.method() != PeerAuthentication.METHOD_NONE;
            return new Hello(
                    kind,
                    cluster,
                    from,
                    to,
                    incarnation,
                    expected,
                    term,
                    nonce,
                    pair,
                    maxMessage,
                    live,
                    authentication.method(),
                    fresh ? authentication.draw() : 0,
                    fresh ? authentication.draw() : 0);
        }

        public boolean isDead(long number) {
            return number < pair && Arrays.binarySearch(live, number) < 0;
        }
    }

    /** The answer. A status of 0 accepts; others are refusals, with a text for the log of the caller. */
    public record Welcome(
            int version,
            int status,
            long incarnation,
            long term,
            long segmentBase,
            int segmentLength,
            int segmentCount,
            int maxMessage,
            int flags,
            String text) {

        public static Welcome refusal(int status, long incarnation, long term, String text) {
            return new Welcome(VERSION, status, incarnation, term, 0, 0, 0, 0, 0, text);
        }
    }

    public static void write(ByteBuf out, Hello hello, WireChecksum checksum) {
        final int at = out.writerIndex();
        out.writeLongLE(MAGIC).writeIntLE(0).writeIntLE(HELLO_LENGTH + hello.live.length * Long.BYTES);
        out.writeIntLE(VERSION).writeIntLE(hello.kind).writeLongLE(hello.cluster);
        out.writeIntLE(hello.from).writeIntLE(hello.to);
        out.writeLongLE(hello.incarnation).writeLongLE(hello.expected);
        out.writeLongLE(hello.term).writeLongLE(hello.nonce).writeLongLE(hello.pair);
        out.writeIntLE(hello.maxMessage).writeIntLE(hello.live.length);
        out.writeIntLE(hello.method).writeIntLE(0).writeLongLE(hello.freshHigh).writeLongLE(hello.freshLow);
        for (final long number : hello.live) {
            out.writeLongLE(number);
        }
        seal(out, at, checksum);
    }

    public static void write(ByteBuf out, Welcome welcome, WireChecksum checksum) {
        final byte[] all = welcome.text.getBytes(StandardCharsets.UTF_8);
        final byte[] text = all.length <= MAX_TEXT ? all : Arrays.copyOf(all, MAX_TEXT);
        final int at = out.writerIndex();
        out.writeLongLE(MAGIC).writeIntLE(0).writeIntLE(WELCOME_LENGTH + text.length);
        out.writeIntLE(welcome.version).writeIntLE(welcome.status);
        out.writeLongLE(welcome.incarnation).writeLongLE(welcome.term);
        out.writeLongLE(welcome.segmentBase).writeIntLE(welcome.segmentLength).writeIntLE(welcome.segmentCount);
        out.writeIntLE(welcome.maxMessage)
                .writeIntLE(welcome.flags)
                .writeZero(MAC_LENGTH)
                .writeBytes(text);
        seal(out, at, checksum);
    }

    public static void seal(ByteBuf out, int at, WireChecksum checksum) {
        final int length = out.writerIndex() - at;
        out.setIntLE(at + CRC_OFFSET, checksum.of(out, at + LENGTH_OFFSET, length - LENGTH_OFFSET));
    }

    /** Whether what has arrived is a whole frame of the handshake; fails as soon as it cannot become one. */
    public static boolean isWhole(ByteBuf in, int least, int most) throws WireException {
        final int at = in.readerIndex();
        final int have = in.readableBytes();
        for (int i = 0; i < Math.min(have, Long.BYTES); i++) {
            if (in.getByte(at + i) != (byte) (MAGIC >>> (i * Byte.SIZE))) {
                throw new WireException(WireFault.FOREIGN_PROTOCOL, "its first bytes are not ours");
            }
        }
        if (have < PREFIX_LENGTH) {
            return false;
        }
        final int version = in.getIntLE(at + VERSION_OFFSET);
        if (version != VERSION) {
            throw new WireException(WireFault.OTHER_VERSION, "version " + version + ", and this is version " + VERSION);
        }
        final int length = in.getIntLE(at + LENGTH_OFFSET);
        if (length < least || length > most) {
            throw new WireException(WireFault.BAD_LENGTH, "handshake of " + length + " bytes");
        }
        return have >= length;
    }

    static int checkedLength(ByteBuf in, WireChecksum checksum) throws WireException {
        final int at = in.readerIndex();
        final int length = in.getIntLE(at + LENGTH_OFFSET);
        if (checksum.of(in, at + LENGTH_OFFSET, length - LENGTH_OFFSET) != in.getIntLE(at + CRC_OFFSET)) {
            throw new WireException(WireFault.BAD_CHECKSUM, "of the handshake");
        }
        return length;
    }

    /** Reads a whole hello. */
    public static Hello readHello(ByteBuf in, WireChecksum checksum) throws WireException {
        final int length = checkedLength(in, checksum);
        final int at = in.readerIndex();
        final int count = in.getIntLE(at + LIVE_COUNT_OFFSET);
        if (count < 0 || count > MAX_LIVE || length != HELLO_LENGTH + count * Long.BYTES) {
            throw new WireException(WireFault.BAD_LENGTH, count + " live pairs in a hello of " + length + " bytes");
        }
        final long[] live = new long[count];
        for (int i = 0; i < count; i++) {
            live[i] = in.getLongLE(at + HELLO_LENGTH + i * Long.BYTES);
            if (i > 0 && live[i] <= live[i - 1]) {
                throw new WireException(WireFault.BAD_FRAME, "the live pairs are not in order");
            }
        }
        final int kind = in.getIntLE(at + KIND_OFFSET);
        final int maxMessage = in.getIntLE(at + MAX_MESSAGE_OFFSET);
        if (kind != KIND_QUEUE_PAIR && kind != KIND_MESSAGES || maxMessage < 64) {
            throw new WireException(WireFault.BAD_FRAME, "kind " + kind + ", max message " + maxMessage);
        }
        final int method = in.getIntLE(at + METHOD_OFFSET);
        final long freshHigh = in.getLongLE(at + FRESH_OFFSET);
        final long freshLow = in.getLongLE(at + FRESH_OFFSET + Long.BYTES);
        if (in.getIntLE(at + ZERO_OFFSET) != 0
                || method == PeerAuthentication.METHOD_NONE && (freshHigh != 0 || freshLow != 0)) {
            throw new WireException(WireFault.BAD_FRAME, "bytes that must be zero are not, method " + method);
        }
        final Hello hello = new Hello(
                kind,
                in.getLongLE(at + CLUSTER_OFFSET),
                in.getIntLE(at + FROM_OFFSET),
                in.getIntLE(at + TO_OFFSET),
                in.getLongLE(at + INCARNATION_OFFSET),
                in.getLongLE(at + EXPECTED_OFFSET),
                in.getLongLE(at + TERM_OFFSET),
                in.getLongLE(at + NONCE_OFFSET),
                in.getLongLE(at + PAIR_OFFSET),
                maxMessage,
                live,
                method,
                freshHigh,
                freshLow);
        in.skipBytes(length);
        return hello;
    }

    /** Reads a whole welcome. */
    public static Welcome readWelcome(ByteBuf in, WireChecksum checksum) throws WireException {
        final int length = checkedLength(in, checksum);
        if (length < WELCOME_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "a welcome of " + length + " bytes");
        }
        final int at = in.readerIndex();
        final Welcome welcome = new Welcome(
                in.getIntLE(at + VERSION_OFFSET),
                in.getIntLE(at + STATUS_OFFSET),
                in.getLongLE(at + WELCOME_INCARNATION_OFFSET),
                in.getLongLE(at + WELCOME_TERM_OFFSET),
                in.getLongLE(at + SEGMENT_BASE_OFFSET),
                in.getIntLE(at + SEGMENT_LENGTH_OFFSET),
                in.getIntLE(at + SEGMENT_COUNT_OFFSET),
                in.getIntLE(at + WELCOME_MAX_MESSAGE_OFFSET),
                in.getIntLE(at + FLAGS_OFFSET),
                printable(in.toString(at + WELCOME_LENGTH, length - WELCOME_LENGTH, StandardCharsets.UTF_8)));
        final boolean plausible = welcome.segmentBase >= 0
                && welcome.segmentLength > 0
                && welcome.segmentCount > 0
                && welcome.segmentBase <= Long.MAX_VALUE - (long) welcome.segmentLength * welcome.segmentCount
                && welcome.maxMessage >= 64;
        if (welcome.status == 0 && !plausible) {
            throw new WireException(WireFault.BAD_FRAME, "impossible segments: " + welcome);
        }
        in.skipBytes(length);
        return welcome;
    }

    /** A peer's text stands in our log: it writes no lines of its own there, and steers no terminal. */
    private static String printable(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    }
}
