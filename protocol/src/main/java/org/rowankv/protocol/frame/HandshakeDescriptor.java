package org.rowankv.protocol.frame;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Layout of what all frames of a handshake have in common, at both ports, and of a refusal. Little-endian.
 *
 * <pre>
 *   0       8     12       16        20     24
 *   +-------+-----+--------+---------+------+----//----+
 *   | magic | crc | length | version | code |   body   |
 *   +-------+-----+--------+---------+------+----//----+
 *
 *   a refusal's body
 *   24         56
 *   +----------+----//----+
 *   | MAC or 0 |   text   |
 *   +----------+----//----+
 * </pre>
 *
 * <p>The magic is the port's ({@link WirePort}). The crc is a CRC32C over everything behind it. The first 24 bytes, and all of a
 * refusal, mean the same in every version, so that two versions can say what is wrong. A handshake is short and rare: each frame
 * has a buffer of its own.
 */
public final class HandshakeDescriptor {
    /** Of the protocol that this code speaks, at both ports. */
    public static final int VERSION = 3;

    static final int MAGIC_OFFSET = 0;
    public static final int CRC_OFFSET = 8;
    public static final int LENGTH_OFFSET = 12;
    public static final int VERSION_OFFSET = 16;
    /** Of an answer: its status. Of a hello or proof: what its format says. */
    public static final int CODE_OFFSET = 20;

    public static final int PREFIX_LENGTH = 24;

    /** Of a server's answer, where both ends of the port have a secret. */
    public static final int MAC_OFFSET = PREFIX_LENGTH;

    public static final int MAC_LENGTH = 32;
    /** Of a refusal. */
    static final int TEXT_OFFSET = MAC_OFFSET + MAC_LENGTH;

    static final int MAX_TEXT = 512;
    public static final int MAX_REFUSAL = TEXT_OFFSET + MAX_TEXT;

    /** Status: welcome. All others refuse, but for a challenge. */
    public static final int ACCEPTED = 0;

    public static final int REFUSED_VERSION = 1;
    public static final int REFUSED_CLUSTER = 2;
    public static final int REFUSED_FULL = 3;
    public static final int REFUSED_CLOSED = 4;
    public static final int REFUSED_PORT = 5;
    /** From here on statuses belong to one port. */
    public static final int FIRST_OF_PORT = 16;

    private HandshakeDescriptor() {}

    /** A frame whose body is zero, to be sealed. */
    public static ByteBuffer frame(WirePort port, int length, int code) {
        return ByteBuffer.allocate(length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(MAGIC_OFFSET, port.magic())
                .putInt(LENGTH_OFFSET, length)
                .putInt(VERSION_OFFSET, VERSION)
                .putInt(CODE_OFFSET, code);
    }

    /** Puts the crc of a frame that is otherwise complete; returns the frame. */
    public static ByteBuffer seal(ByteBuffer frame) {
        return frame.putInt(CRC_OFFSET, crc(frame, frame.capacity()));
    }

    static int crc(ByteBuffer frame, int length) {
        return new WireChecksum().of(frame, LENGTH_OFFSET, length - LENGTH_OFFSET);
    }

    public static int code(ByteBuffer frame) {
        return frame.getInt(CODE_OFFSET);
    }

    public static ByteBuffer refusal(WirePort port, int status, String text) {
        final byte[] all = text.getBytes(UTF_8);
        final byte[] bytes = all.length <= MAX_TEXT ? all : Arrays.copyOf(all, MAX_TEXT);
        return seal(frame(port, TEXT_OFFSET + bytes.length, status).put(TEXT_OFFSET, bytes));
    }

    /** What a caller is answered that is at the wrong port, or speaks another version, each in words of its own; null: nothing. */
    public static @Nullable ByteBuffer refusal(WirePort port, WireException why) {
        return switch (why.fault()) {
            case OTHER_VERSION -> refusal(port, REFUSED_VERSION, why.text());
            case OTHER_PORT -> refusal(port.other(), REFUSED_PORT, why.text());
            default -> null;
        };
    }

    /** Why it refuses. */
    public static String text(ByteBuffer refusal) throws WireException {
        if (refusal.limit() < TEXT_OFFSET) {
            throw new WireException(WireFault.BAD_LENGTH, "a refusal of " + refusal.limit() + " bytes");
        }
        final byte[] bytes = new byte[refusal.limit() - TEXT_OFFSET];
        refusal.get(TEXT_OFFSET, bytes);
        return printable(new String(bytes, UTF_8));
    }

    /** The other end's text stands in our log: it writes no lines of its own there, and steers no terminal. */
    private static String printable(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    }
}
