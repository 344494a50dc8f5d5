package org.rowankv.rdma.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Welcome;
import org.rowankv.rdma.tcp.wire.WireChecksum;
import org.rowankv.rdma.tcp.wire.WireException;

/** What a peer says of a refusal stands in our log, on one line, and steers no terminal. */
final class PeerWelcomeTextTest {
    @ParameterizedTest
    @ValueSource(strings = {"\n", "\u001b", "\u007f", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\u200b"})
    void shouldKeepNoCharacterThatSteers(String bad) throws WireException {
        final ByteBuf out = Unpooled.buffer();
        HelloDescriptor.write(out, Welcome.refusal(3, 0, 0, "not " + bad + " admitted, é"), new WireChecksum());
        assertThat(HelloDescriptor.readWelcome(out, new WireChecksum()).text()).isEqualTo("not ? admitted, é");
    }
}
