package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;

/** Frames with an empty body, or bytes that another format describes. */
public final class BytesFrame {
    private static final byte[] NOTHING = {};

    private BytesFrame() {}

    public static void write(FrameEncoder out, int type, long number, byte[] body) {
        final int length = FrameHeadDescriptor.HEAD_LENGTH + body.length;
        final int at = out.reserve(length);
        FrameHeadDescriptor.write(out.buffer(), at, length, type, 0, 0, 0, 0, number);
        out.buffer().put(at + FrameHeadDescriptor.HEAD_LENGTH, body);
        out.seal(at);
    }

    public static void write(FrameEncoder out, int type, long number) {
        write(out, type, number, NOTHING);
    }

    public static byte[] body(ByteBuffer buffer, int at, int length) {
        final byte[] body = new byte[length - FrameHeadDescriptor.HEAD_LENGTH];
        buffer.get(at + FrameHeadDescriptor.HEAD_LENGTH, body);
        return body;
    }
}
