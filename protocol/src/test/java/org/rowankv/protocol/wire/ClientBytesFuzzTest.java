package org.rowankv.protocol.wire;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.rowankv.protocol.Request;
import org.rowankv.topology.RoutingDescriptor;

/**
 * Everything that decodes bytes of a client or, at a client, of a server, under a fuzzer that looks at which branches it
 * reaches. The first byte chooses the decoder, the second where the rest is cut; checksums are made right, or the fuzzer would
 * never come past them. Any exception that is not the protocol's own is a finding.
 */
@Tag("fuzz")
final class ClientBytesFuzzTest {
    private static final int MAX_FRAME = 128 << 10;
    private static final int FRAMES = 0;
    private static final int HELLO = 1;
    private static final int WELCOME = 2;
    private static final int ROUTING = 3;

    @FuzzTest(maxDuration = "10s")
    void decode(byte[] data) {
        if (data.length < 2) {
            return;
        }
        final ByteBuffer rest = ByteBuffer.allocate(data.length - 2 + HelloDescriptor.longestHello())
                .order(ByteOrder.LITTLE_ENDIAN);
        rest.put(data, 2, data.length - 2);
        switch (data[0] & 3) {
            case FRAMES -> frames(rest.flip(), data[1] & 0xff);
            case HELLO -> handshake(rest, true);
            case WELCOME -> handshake(rest, false);
            case ROUTING -> routing(Arrays.copyOfRange(data, 2, data.length));
            default -> throw new AssertionError(Arrays.toString(data));
        }
    }

    private static void frames(ByteBuffer bytes, int cut) {
        repairFrames(bytes);
        final FrameCutter cutter = new FrameCutter(MAX_FRAME);
        final Request request = new Request();
        final int end = bytes.limit();
        try {
            for (int to : new int[] {Math.min(cut, end), end}) {
                bytes.limit(to);
                cutter.take(bytes, (buffer, at, length) -> {
                    if (FrameDescriptor.length(buffer, at) != length || length > buffer.limit() - at) {
                        throw new AssertionError("a frame of " + length + " bytes that is not whole");
                    }
                    frame(buffer, at, length, request);
                    return true;
                });
            }
        } catch (ProtocolException e) {
            refused(e);
        }
    }

    private static void frame(ByteBuffer buffer, int at, int length, Request request) throws ProtocolException {
        switch (FrameDescriptor.type(buffer, at)) {
            case FrameDescriptor.REQUEST -> {
                final byte[] body = new byte[RequestDescriptor.bodyLength(buffer, at, length)];
                if (RequestDescriptor.read(buffer, at, request, body)
                        && request.keyLength() + request.valueLength() > body.length) {
                    throw new AssertionError("a request that refers to what it does not have");
                }
            }
            case FrameDescriptor.ANSWER -> {
                AnswerDescriptor.check(buffer, at, length);
                AnswerDescriptor.read(buffer, at, length, request);
            }
            case FrameDescriptor.SCAN -> ScanDescriptor.check(buffer, at, length);
            case FrameDescriptor.PAGE -> {
                PageDescriptor.check(buffer, at, length);
                PageDescriptor.read(buffer, at, (version, key, value, omitted) -> {});
            }
            case FrameDescriptor.CATALOGUE -> {
                CatalogueDescriptor.asked(buffer, at);
                CatalogueDescriptor.readAsked(buffer, at, length);
            }
            case FrameDescriptor.CHANGES_WANTED -> {
                ChangesWantedDescriptor.check(buffer, at, length);
                for (int i = 0; i < ChangesWantedDescriptor.sections(buffer, at); i++) {
                    ChangesWantedDescriptor.position(buffer, at, i);
                    ChangesWantedDescriptor.oldValues(buffer, at, i);
                }
            }
            case FrameDescriptor.CHANGES -> {
                ChangesDescriptor.check(buffer, at, length, MAX_FRAME);
                ChangesDescriptor.read(buffer, at);
            }
            case FrameDescriptor.CATALOGUE_ANSWER -> CatalogueDescriptor.readAnswer(buffer, at, length);
            default -> BytesFrame.body(buffer, at, length);
        }
    }

    private static void repairFrames(ByteBuffer bytes) {
        final FrameChecksum checksum = new FrameChecksum();
        int at = 0;
        while (bytes.limit() - at >= FrameDescriptor.HEAD_LENGTH) {
            final int length = FrameDescriptor.length(bytes, at);
            if (length < FrameDescriptor.HEAD_LENGTH || length > bytes.limit() - at) {
                return;
            }
            FrameDescriptor.seal(bytes, at, checksum);
            at += length;
        }
    }

    private static void handshake(ByteBuffer bytes, boolean hello) {
        final int have = bytes.position();
        if (have >= HelloDescriptor.PREFIX_LENGTH) {
            final int length = bytes.getInt(HelloDescriptor.LENGTH_OFFSET);
            if (length > HelloDescriptor.LENGTH_OFFSET && length <= have) {
                bytes.putInt(
                        HelloDescriptor.CRC_OFFSET,
                        new FrameChecksum()
                                .of(bytes, HelloDescriptor.LENGTH_OFFSET, length - HelloDescriptor.LENGTH_OFFSET));
            }
        }
        try {
            if (hello) {
                HelloDescriptor.readHello(bytes);
            } else if (HelloDescriptor.readWelcome(bytes) == null && HelloDescriptor.missing(bytes) < 1) {
                throw new AssertionError("a welcome that is not whole and lacks nothing");
            }
        } catch (ProtocolException e) {
            refused(e);
        }
    }

    private static void routing(byte[] bytes) {
        final String reason = RoutingDescriptor.whyInvalid(bytes);
        if (reason == null) {
            RoutingDescriptor.decode(bytes);
        }
    }

    private static void refused(ProtocolException e) {
        if (e.text().isEmpty()) {
            throw new AssertionError("refused without a reason", e);
        }
    }
}
