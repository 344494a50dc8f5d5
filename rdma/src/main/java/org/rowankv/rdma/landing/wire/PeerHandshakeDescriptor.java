package org.rowankv.rdma.landing.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;

/**
 * Layout of the first and the last frame of a server's handshake, behind the prefix of {@link HandshakeDescriptor}. Little-endian.
 *
 * <pre>
 *   hello; code: the kind of connection
 *   24        32     36   40            48          56     64      72
 *   +---------+------+----+-------------+-----------+------+-------+--
 *   | cluster | from | to | incarnation | expected  | term | nonce |
 *   +---------+------+----+-------------+-----------+------+-------+--
 *  72              80            84           88       92     96            112
 * --+--------------+-------------+------------+--------+------+-------------+----//----+
 *   | pair number  | max message | live count | method | zero | fresh nonce | live ... |
 * --+--------------+-------------+------------+--------+------+-------------+----//----+
 *
 *   welcome; code: 0
 *   24    56            64     72             80               84              88            92      96
 *   +-----+-------------+------+--------------+----------------+---------------+-------------+-------+
 *   | MAC | incarnation | term | segment base | segment length | segment count | max message | flags |
 *   +-----+-------------+------+--------------+----------------+---------------+-------------+-------+
 * </pre>
 *
 * <p>Fresh nonce and MAC are zero with method none. {@link ProofDescriptor} has the frames in between.
 */
public final class PeerHandshakeDescriptor {
    public static final int KIND_QUEUE_PAIR = 1;
    public static final int KIND_MESSAGES = 2;
    /** Of a server whose entries it places itself: the segments that it may write are leased here. */
    public static final int KIND_LEASES = 3;

    public static final int KIND_OFFSET = HandshakeDescriptor.CODE_OFFSET;
    public static final int CLUSTER_OFFSET = HandshakeDescriptor.PREFIX_LENGTH;
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

    public static final int WELCOME_INCARNATION_OFFSET =
            HandshakeDescriptor.MAC_OFFSET + HandshakeDescriptor.MAC_LENGTH;
    public static final int WELCOME_TERM_OFFSET = 64;
    public static final int SEGMENT_BASE_OFFSET = 72;
    static final int SEGMENT_LENGTH_OFFSET = 80;
    static final int SEGMENT_COUNT_OFFSET = 84;
    public static final int WELCOME_MAX_MESSAGE_OFFSET = 88;
    public static final int FLAGS_OFFSET = 92;
    public static final int WELCOME_LENGTH = 96;

    /** In the welcome's flags: a segment is posted that this queue pair may land in. */
    public static final int READY = 1;

    /** Limit of queue pairs from one server to another. */
    public static final int MAX_LIVE = 1024;

    public static final int MAX_HELLO = HELLO_LENGTH + MAX_LIVE * Long.BYTES;

    private PeerHandshakeDescriptor() {}

    /**
     * Caller and called server of a connection.
     *
     * @param expected the called incarnation; 0 on a message link, which accepts any
     * @param nonce drawn by the calling process, so that a second one with the same identity is detected
     * @param pair number of the queue pair; of two of one process the later has the higher
     * @param live numbers of the caller's live queue pairs to this server; lower ones not in it are dead
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record PeerHello(
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
            long[] live) {

        public boolean isDead(long number) {
            return number < pair && Arrays.binarySearch(live, number) < 0;
        }
    }

    /** Response to an accepted caller. */
    public record PeerWelcome(
            long incarnation,
            long term,
            long segmentBase,
            int segmentLength,
            int segmentCount,
            int maxMessage,
            int flags) {}

    /** For a connection with that authentication; draws a fresh nonce. */
    public static ByteBuffer hello(PeerHello hello, PeerAuthentication authentication) {
        final ByteBuffer frame = HandshakeDescriptor.frame(
                        WirePort.PEERS, HELLO_LENGTH + hello.live.length * Long.BYTES, hello.kind)
                .putLong(CLUSTER_OFFSET, hello.cluster)
                .putInt(FROM_OFFSET, hello.from)
                .putInt(TO_OFFSET, hello.to)
                .putLong(INCARNATION_OFFSET, hello.incarnation)
                .putLong(EXPECTED_OFFSET, hello.expected)
                .putLong(TERM_OFFSET, hello.term)
                .putLong(NONCE_OFFSET, hello.nonce)
                .putLong(PAIR_OFFSET, hello.pair)
                .putInt(MAX_MESSAGE_OFFSET, hello.maxMessage)
                .putInt(LIVE_COUNT_OFFSET, hello.live.length)
                .putInt(METHOD_OFFSET, authentication.method());
        if (authentication.method() != PeerAuthentication.METHOD_NONE) {
            frame.putLong(FRESH_OFFSET, authentication.draw())
                    .putLong(FRESH_OFFSET + Long.BYTES, authentication.draw());
        }
        for (int i = 0; i < hello.live.length; i++) {
            frame.putLong(HELLO_LENGTH + i * Long.BYTES, hello.live[i]);
        }
        return HandshakeDescriptor.seal(frame);
    }

    public static ByteBuffer welcome(PeerWelcome welcome) {
        return HandshakeDescriptor.seal(
                HandshakeDescriptor.frame(WirePort.PEERS, WELCOME_LENGTH, HandshakeDescriptor.ACCEPTED)
                        .putLong(WELCOME_INCARNATION_OFFSET, welcome.incarnation)
                        .putLong(WELCOME_TERM_OFFSET, welcome.term)
                        .putLong(SEGMENT_BASE_OFFSET, welcome.segmentBase)
                        .putInt(SEGMENT_LENGTH_OFFSET, welcome.segmentLength)
                        .putInt(SEGMENT_COUNT_OFFSET, welcome.segmentCount)
                        .putInt(WELCOME_MAX_MESSAGE_OFFSET, welcome.maxMessage)
                        .putInt(FLAGS_OFFSET, welcome.flags));
    }

    /** Reads a complete hello. */
    public static PeerHello readHello(ByteBuffer frame) throws WireException {
        final int length = frame.limit();
        final int count = length < HELLO_LENGTH ? -1 : frame.getInt(LIVE_COUNT_OFFSET);
        if (count < 0 || count > MAX_LIVE || length != HELLO_LENGTH + count * Long.BYTES) {
            throw new WireException(WireFault.BAD_LENGTH, count + " live pairs in a hello of " + length + " bytes");
        }
        final long[] live = new long[count];
        for (int i = 0; i < count; i++) {
            live[i] = frame.getLong(HELLO_LENGTH + i * Long.BYTES);
            if (i > 0 && live[i] <= live[i - 1]) {
                throw new WireException(WireFault.BAD_FRAME, "the live pairs are not in order");
            }
        }
        final int kind = frame.getInt(KIND_OFFSET);
        final int maxMessage = frame.getInt(MAX_MESSAGE_OFFSET);
        if (kind < KIND_QUEUE_PAIR || kind > KIND_LEASES || maxMessage < 64) {
            throw new WireException(WireFault.BAD_FRAME, "kind " + kind + ", max message " + maxMessage);
        }
        final boolean fresh = frame.getLong(FRESH_OFFSET) != 0 || frame.getLong(FRESH_OFFSET + Long.BYTES) != 0;
        if (frame.getInt(ZERO_OFFSET) != 0 || fresh && method(frame) == PeerAuthentication.METHOD_NONE) {
            throw new WireException(WireFault.BAD_FRAME, "bytes that must be zero are not, method " + method(frame));
        }
        return new PeerHello(
                kind,
                frame.getLong(CLUSTER_OFFSET),
                frame.getInt(FROM_OFFSET),
                frame.getInt(TO_OFFSET),
                frame.getLong(INCARNATION_OFFSET),
                frame.getLong(EXPECTED_OFFSET),
                frame.getLong(TERM_OFFSET),
                frame.getLong(NONCE_OFFSET),
                frame.getLong(PAIR_OFFSET),
                maxMessage,
                live);
    }

    /** Method by which the caller of a hello proves its identity, one of {@link PeerAuthentication}. */
    public static int method(ByteBuffer hello) {
        return hello.getInt(METHOD_OFFSET);
    }

    /** Reads a complete welcome that is no refusal. */
    public static PeerWelcome readWelcome(ByteBuffer frame) throws WireException {
        if (frame.limit() != WELCOME_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "a welcome of " + frame.limit() + " bytes");
        }
        final PeerWelcome welcome = new PeerWelcome(
                frame.getLong(WELCOME_INCARNATION_OFFSET),
                frame.getLong(WELCOME_TERM_OFFSET),
                frame.getLong(SEGMENT_BASE_OFFSET),
                frame.getInt(SEGMENT_LENGTH_OFFSET),
                frame.getInt(SEGMENT_COUNT_OFFSET),
                frame.getInt(WELCOME_MAX_MESSAGE_OFFSET),
                frame.getInt(FLAGS_OFFSET));
        final boolean plausible = welcome.segmentBase >= 0
                && welcome.segmentLength > 0
                && welcome.segmentCount > 0
                && welcome.segmentBase <= Long.MAX_VALUE - (long) welcome.segmentLength * welcome.segmentCount
                && welcome.maxMessage >= 64;
        if (!plausible) {
            throw new WireException(WireFault.BAD_FRAME, "impossible segments: " + welcome);
        }
        return welcome;
    }
}
