package org.rowankv.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Bytes written per operation, as the real log writes them. */
final class NvmWritesCommandTest {
    @Test
    void shouldWriteNothingTwice() throws IOException {
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        final int exitCode = new NvmWritesCommand(new PrintStream(printed, true, StandardCharsets.UTF_8)).call();

        final String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(exitCode).as(text).isZero();
        assertThat(text).contains("nvm-writes: sizes=6 bars=9 missed=0").containsPattern(" 1024  update +1152 +2148 ");
    }
}
