package org.rowankv.protocol.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A frame of a handshake is found wherever it is split, without the bytes behind it; the fault of any other bytes is named. */
final class HandshakeInputTest {
    private static final int LONGEST = 200;

    private static byte[] frame(WirePort port, int length) {
        final ByteBuffer frame = HandshakeDescriptor.frame(port, length, 7);
        for (int i = HandshakeDescriptor.PREFIX_LENGTH; i < length; i++) {
            frame.put(i, (byte) i);
        }
        return HandshakeDescriptor.seal(frame).array();
    }

    private static HandshakeInput input(WirePort port) {
        return new HandshakeInput(port, true, LONGEST);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeTheFrameAndNothingBehindItWhereverItIsCut(WirePort port) throws WireException {
        final byte[] frame = frame(port, LONGEST);
        final byte[] more = Arrays.copyOf(frame, LONGEST + 10);
        for (int cut = 0; cut <= LONGEST; cut++) {
            final HandshakeInput input = input(port);
            final ByteBuffer first = ByteBuffer.wrap(more, 0, cut);
            assertThat(input.take(first)).isEqualTo(cut == LONGEST);
            assertThat(first.hasRemaining()).isFalse();
            final ByteBuffer second = ByteBuffer.wrap(more, cut, more.length - cut);
            assertThat(input.take(second)).isTrue();
            assertThat(second.remaining()).isEqualTo(10);
            assertThat(input.frame()).isEqualTo(ByteBuffer.wrap(frame));
            input.next(40);
            assertThat(input.take(ByteBuffer.wrap(frame(port, 40)))).isTrue();
            assertThat(input.frame().limit()).isEqualTo(40);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadNothingBehindTheFrameFromAChannel(WirePort port) throws IOException, WireException {
        final byte[] bytes = Arrays.copyOf(frame(port, 60), 70);
        final ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(bytes));
        final HandshakeInput input = new HandshakeInput(port, false, LONGEST);
        while (!input.isComplete()) {
            assertThat(input.readFrom(channel)).isPositive();
        }
        assertThat(channel.read(ByteBuffer.allocate(100))).isEqualTo(10);
    }

    private static void assertFault(WirePort port, WireFault fault, byte[] bytes, String... texts) {
        assertThatThrownBy(() -> input(port).take(ByteBuffer.wrap(bytes)))
                .isInstanceOfSatisfying(WireException.class, e -> {
                    assertThat(e.fault()).as(e.text()).isEqualTo(fault);
                    for (String text : texts) {
                        assertThat(e.text()).contains(text);
                    }
                });
    }

    @ParameterizedTest
    @EnumSource
    void shouldExplainTheFault(WirePort port) throws WireException {
        for (int at = 0; at < Long.BYTES; at++) {
            final byte[] foreign = frame(port, 40);
            foreign[at] ^= 0x20;
            assertFault(port, WireFault.FOREIGN_PROTOCOL, Arrays.copyOf(foreign, at + 1));
        }
        for (int length : new int[] {Integer.MIN_VALUE, -1, 0, 23, LONGEST + 1, Integer.MAX_VALUE}) {
            final byte[] wrong = new byte[24];
            HandshakeDescriptor.frame(port, 40, 7)
                    .putInt(HandshakeDescriptor.LENGTH_OFFSET, length)
                    .get(wrong);
            assertFault(port, WireFault.BAD_LENGTH, wrong);
        }
        for (int at = 8; at < 40; at++) {
            if (at < 12 || at >= 20) {
                final byte[] damaged = frame(port, 40);
                damaged[at] ^= 1;
                assertFault(port, WireFault.BAD_CHECKSUM, damaged);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameBothVersionsAndReadAllOfTheOtherFirst(WirePort port) throws WireException {
        final byte[] older = frame(port, 40);
        older[HandshakeDescriptor.VERSION_OFFSET] = 1;
        assertThat(input(port).take(ByteBuffer.wrap(older, 0, 39))).isFalse();
        assertFault(
                port,
                WireFault.OTHER_VERSION,
                older,
                "version 1",
                "version " + HandshakeDescriptor.VERSION,
                "the same release");
        // Longer than the limit: no further bytes are awaited.
        older[HandshakeDescriptor.LENGTH_OFFSET + 1] = 1;
        assertFault(port, WireFault.OTHER_VERSION, Arrays.copyOf(older, 24), "version 1");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseACallerOfTheOtherPortInThatPortsForm(WirePort port) throws WireException {
        final byte[] other = frame(port.other(), 40);
        assertThat(input(port).take(ByteBuffer.wrap(other, 0, 39))).isFalse();
        assertFault(port, WireFault.OTHER_PORT, other, "--listen", "--peer-listen");
        try {
            input(port).take(ByteBuffer.wrap(other));
            throw new AssertionError("it was taken");
        } catch (WireException e) {
            final ByteBuffer refusal = HandshakeDescriptor.refusal(port, e);
            final HandshakeInput reading = new HandshakeInput(port.other(), false, HandshakeDescriptor.MAX_REFUSAL);
            assertThat(refusal).isNotNull();
            assertThat(reading.take(refusal)).isTrue();
            assertThat(HandshakeDescriptor.code(reading.frame())).isEqualTo(HandshakeDescriptor.REFUSED_PORT);
            assertThat(HandshakeDescriptor.text(reading.frame())).isEqualTo(e.text());
        }
    }

    @Test
    void shouldHoldNoMoreThanHasCome() throws WireException {
        final ByteBuffer announced = HandshakeDescriptor.frame(WirePort.PEERS, 60, 7);
        announced.putInt(HandshakeDescriptor.LENGTH_OFFSET, 1 << 30);
        final HandshakeInput input = new HandshakeInput(WirePort.PEERS, true, Integer.MAX_VALUE);
        assertThat(input.take(announced)).isFalse();
        assertThat(input.frame().limit()).isEqualTo(60);
        assertThat(input.frame().capacity()).isLessThan(1 << 10);
    }
}
