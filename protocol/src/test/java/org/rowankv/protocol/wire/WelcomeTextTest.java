package org.rowankv.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.wire.HelloDescriptor.Welcome;

/** What a server says of a refusal stands in a client's log, on one line, and steers no terminal. */
final class WelcomeTextTest {
    @ParameterizedTest
    @ValueSource(strings = {"\n", "\u001b", "\u007f", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\u200b"})
    void shouldKeepNoCharacterThatSteers(String bad) throws ProtocolException {
        final ByteBuffer frame = HelloDescriptor.welcome(new Welcome(
                HelloDescriptor.VERSION, HelloDescriptor.REFUSED_FULL, 7, 1, 0, 1 << 20, 64, "not " + bad + " now, é"));
        frame.position(frame.limit());
        assertThat(HelloDescriptor.readWelcome(frame).text()).isEqualTo("not ? now, é");
    }
}
