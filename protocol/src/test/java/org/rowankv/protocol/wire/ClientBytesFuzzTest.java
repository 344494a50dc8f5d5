package org.rowankv.protocol.wire;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.BufferAccounting;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.topology.RoutingDescriptor;

/**
 * Everything that decodes bytes of a client or, at a client, of a server, under a fuzzer that looks at which branches it
 * reaches. The first byte chooses the decoder, the second where the rest is split; checksums are corrected, or the fuzzer would
 * never pass them. Any exception that is not the protocol's own is a finding.
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
        final ByteBuffer rest = ByteBuffer.allocate(data.length - 2 + ClientHandshakeDescriptor.MAX_HELLO)
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
        final FrameDecoder cutter =
                new FrameDecoder(WirePort.CLIENTS, type -> MAX_FRAME, FrameMemory.onHeap(BufferAccounting.UNCOUNTED));
        final Request request = new Request();
        final int end = bytes.limit();
        try {
            for (int to : new int[] {Math.min(cut, end), end}) {
                bytes.limit(to);
                cutter.take(bytes, (buffer, at, length) -> {
                    if (FrameHeadDescriptor.length(buffer, at) != length || length > buffer.limit() - at) {
                        throw new AssertionError("a frame of " + length + " bytes that is not whole");
                    }
                    frame(buffer, at, length, request);
                    return true;
                });
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void frame(ByteBuffer buffer, int at, int length, Request request) throws WireException {
        switch (FrameHeadDescriptor.type(buffer, at)) {
            case ClientFrameDescriptor.REQUEST -> {
                final byte[] body = new byte[RequestDescriptor.bodyLength(buffer, at, length)];
                if (RequestDescriptor.read(buffer, at, request, body)
                        && request.keyLength() + request.valueLength() > body.length) {
                    throw new AssertionError("a request that refers to what it does not have");
                }
            }
            case ClientFrameDescriptor.ANSWER -> {
                ResponseDescriptor.check(buffer, at, length);
                ResponseDescriptor.read(buffer, at, length, request);
            }
            case ClientFrameDescriptor.SCAN -> ScanRequestDescriptor.check(buffer, at, length);
            case ClientFrameDescriptor.PAGE -> {
                PageDescriptor.check(buffer, at, length);
                PageDescriptor.read(buffer, at, (version, key, value, omitted) -> {});
            }
            case ClientFrameDescriptor.CATALOGUE -> {
                CatalogueDescriptor.asked(buffer, at);
                CatalogueDescriptor.readAsked(buffer, at, length);
            }
            case ClientFrameDescriptor.CHANGES_REQUEST -> {
                ChangesRequestDescriptor.check(buffer, at, length);
                for (int i = 0; i < ChangesRequestDescriptor.sections(buffer, at); i++) {
                    ChangesRequestDescriptor.position(buffer, at, i);
                    ChangesRequestDescriptor.oldValues(buffer, at, i);
                }
            }
            case ClientFrameDescriptor.CHANGES -> {
                ChangesDescriptor.check(buffer, at, length, MAX_FRAME);
                ChangesDescriptor.read(buffer, at);
            }
            case ClientFrameDescriptor.CATALOGUE_ANSWER -> CatalogueDescriptor.readAnswer(buffer, at, length);
            default -> BytesFrame.body(buffer, at, length);
        }
    }

    private static void repairFrames(ByteBuffer bytes) {
        final WireChecksum checksum = new WireChecksum();
        int at = 0;
        while (bytes.limit() - at >= FrameHeadDescriptor.HEAD_LENGTH) {
            final int length = FrameHeadDescriptor.length(bytes, at);
            if (length < FrameHeadDescriptor.HEAD_LENGTH || length > bytes.limit() - at) {
                return;
            }
            FrameHeadDescriptor.seal(bytes, at, length, checksum);
            at += length;
        }
    }

    private static void handshake(ByteBuffer bytes, boolean hello) {
        bytes.flip();
        if (bytes.limit() >= HandshakeDescriptor.PREFIX_LENGTH) {
            final int length = bytes.getInt(HandshakeDescriptor.LENGTH_OFFSET);
            if (length > HandshakeDescriptor.LENGTH_OFFSET && length <= bytes.limit()) {
                final int covered = length - HandshakeDescriptor.LENGTH_OFFSET;
                bytes.putInt(
                        HandshakeDescriptor.CRC_OFFSET,
                        new WireChecksum().of(bytes, HandshakeDescriptor.LENGTH_OFFSET, covered));
            }
        }
        final int longest = hello ? ClientHandshakeDescriptor.MAX_HELLO : HandshakeDescriptor.MAX_REFUSAL;
        final HandshakeInput input = new HandshakeInput(WirePort.CLIENTS, hello, longest);
        try {
            if (!input.take(bytes)) {
                return;
            }
            if (hello) {
                ClientHandshakeDescriptor.readHello(input.frame());
            } else if (HandshakeDescriptor.code(input.frame()) == HandshakeDescriptor.ACCEPTED) {
                ClientHandshakeDescriptor.readWelcome(input.frame());
            } else {
                HandshakeDescriptor.text(input.frame());
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void routing(byte[] bytes) {
        final String reason = RoutingDescriptor.whyInvalid(bytes);
        if (reason == null) {
            RoutingDescriptor.decode(bytes);
        }
    }

    private static void refused(WireException e) {
        if (e.text().isEmpty()) {
            throw new AssertionError("refused without a reason", e);
        }
    }
}
