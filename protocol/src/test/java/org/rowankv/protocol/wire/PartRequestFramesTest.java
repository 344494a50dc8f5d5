package org.rowankv.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import net.jqwik.api.Example;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.WireException;

/** Requests with flags are read as written; those that cannot be meant are refused. */
final class PartRequestFramesTest {
    private static boolean isAccepted(Request request) throws WireException {
        request.identified(1, 1, 0);
        final ByteBuffer frame = ByteBuffer.wrap(frame(request)).order(ByteOrder.LITTLE_ENDIAN);
        final Request read = new Request();
        final byte[] body = new byte[RequestDescriptor.bodyLength(frame, 0, frame.capacity())];
        final boolean accepted = RequestDescriptor.read(frame, 0, read, body);
        assertThat(read.isInParts()).isEqualTo(request.isInParts());
        assertThat(read.needsValue()).isEqualTo(request.needsValue());
        assertThat(read.needsExpiry()).isEqualTo(request.needsExpiry());
        return accepted;
    }

    @Example
    void shouldAcceptOnlyReadsThatAskForTheEndOfTheLifetime() throws WireException {
        final byte[] own = {1};
        assertThat(isAccepted(new Request().get(3, own, 0, 1).requestExpiry(true)))
                .isTrue();
        assertThat(isAccepted(new Request().get(3, own, 0, 1))).isTrue();
        assertThat(isAccepted(new Request().delete(3, own, 0, 1).requestExpiry(true)))
                .isFalse();
        assertThat(isAccepted(new Request().put(3, own, 0, 1, own, 0, 1).requestExpiry(true)))
                .isFalse();
    }

    /** The flag is the only byte of the frame that differs. */
    @Example
    void shouldAskForTheEndOfTheLifetimeByOneFlag() {
        final byte[] own = {1};
        final byte[] plain = frame(new Request().get(3, own, 0, 1));
        final byte[] asking = frame(new Request().get(3, own, 0, 1).requestExpiry(true));
        assertThat(asking).hasSameSizeAs(plain);
        for (int i = 4; i < plain.length; i++) {
            assertThat(asking[i] - plain[i]).as("byte %d", i).isEqualTo(i == 11 ? 4 : 0);
        }
        assertThat(plain[11]).isEqualTo((byte) 1);
    }

    @Example
    void shouldRefuseAFlagThatIsNone() {
        final byte[] own = {1};
        final ByteBuffer frame =
                ByteBuffer.wrap(frame(new Request().get(3, own, 0, 1))).order(ByteOrder.LITTLE_ENDIAN);
        frame.put(11, (byte) 8);
        assertThatThrownBy(() -> RequestDescriptor.bodyLength(frame, 0, frame.capacity()))
                .isInstanceOf(WireException.class);
    }

    private static byte[] frame(Request request) {
        final FrameEncoder out = new FrameEncoder(64);
        RequestDescriptor.write(out, request, 1, 1);
        final byte[] frame = new byte[out.pending()];
        out.buffer().get(0, frame);
        return frame;
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
