package org.rowankv.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import net.jqwik.api.Example;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.WireException;

/** Requests that concern parts are read as written; those that cannot be meant are refused. */
final class PartRequestFramesTest {
    private static boolean isAccepted(Request request) throws WireException {
        request.identified(1, 1, 0);
        final FrameEncoder out = new FrameEncoder(64);
        RequestDescriptor.write(out, request, 1, 1);
        final ByteBuffer frame = ByteBuffer.allocate(out.pending()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < frame.capacity(); i++) {
            frame.put(i, out.buffer().get(i));
        }
        final Request read = new Request();
        final byte[] body = new byte[RequestDescriptor.bodyLength(frame, 0, frame.capacity())];
        final boolean accepted = RequestDescriptor.read(frame, 0, read, body);
        assertThat(read.isInParts()).isEqualTo(request.isInParts());
        assertThat(read.needsValue()).isEqualTo(request.needsValue());
        return accepted;
    }

    @Example
    void shouldAcceptAListAndPartsOnlyWhereTheyBelong() throws WireException {
        final byte[] list = new PartList(new Random(1).nextLong(), 10, 3, 7).toBytes();
        final byte[] key = Parts.key(9, 1, 2);
        final byte[] own = {1};
        assertThat(isAccepted(new Request()
                        .put(3, own, 0, 1, list, 0, list.length)
                        .inParts(true)
                        .requestValue(true)))
                .isTrue();
        assertThat(isAccepted(new Request().put(3, own, 0, 1, own, 0, 1).inParts(true)))
                .as("a value that is no list")
                .isFalse();
        assertThat(isAccepted(new Request().delete(3, own, 0, 1).inParts(true)))
                .as("a removal in parts")
                .isFalse();
        assertThat(isAccepted(new Request().put(Parts.of(3), key, 0, key.length, list, 0, list.length)))
                .isTrue();
        assertThat(isAccepted(new Request().put(Parts.of(3), own, 0, 1, list, 0, list.length)))
                .as("a part with another key")
                .isFalse();
        assertThat(isAccepted(new Request()
                        .put(Parts.of(3), key, 0, key.length, list, 0, list.length)
                        .inParts(true)))
                .as("a part in parts")
                .isFalse();
        assertThat(isAccepted(new Request().clear(Parts.of(3), 0)))
                .as("a clear of parts alone")
                .isFalse();
    }
}
