package org.rowankv.samples.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

/** The application in two of its forms, with few requests; {@code ./rowan demo dropin} runs all. */
final class DropInDemoTest {
    @TempDir
    Path directory;

    private String output = "";

    private int demo(String... arguments) {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final PrintStream before = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            return new CommandLine(new DropInDemo())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute(arguments);
        } finally {
            System.setOut(before);
            output = bytes.toString(StandardCharsets.UTF_8);
            System.out.println(output);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DropInDemo.Form.class,
            names = {"EHCACHE", "EMBEDDED"})
    void shouldRespondTheSameOnEachCache(DropInDemo.Form form) {
        final int code = demo("--requests", "8000", "--form", form.name(), "--dir", directory.toString());

        assertThat(output).contains("dropin: requests=8000 differences=0 stale=0 errors=0");
        assertThat(code).isZero();
    }

    @Test
    void shouldRefuseToMakeNoRequests() {
        assertThat(demo("--requests", "0")).isEqualTo(CommandLine.ExitCode.USAGE);
    }
}
