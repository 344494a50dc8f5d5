package org.rowankv.protocol.frame;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text of a refusal is one line of the caller's log, without control characters. */
final class RefusalTextTest {
    @ParameterizedTest
    @ValueSource(strings = {"\n", "\u001b", "\u007f", "\u0085", "\u009b", "\u2028", "\u2029", "\u202e", "\u200b"})
    void shouldKeepNoControlCharacter(String bad) throws WireException {
        for (WirePort port : WirePort.values()) {
            assertThat(HandshakeDescriptor.text(HandshakeDescriptor.refusal(
                            port, HandshakeDescriptor.REFUSED_FULL, "not " + bad + " now, é")))
                    .isEqualTo("not ? now, é");
        }
    }
}
