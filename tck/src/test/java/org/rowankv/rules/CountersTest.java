package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A counter that only rises and is taken modulo something is negative one day, and so is the remainder. A round goes back to its
 * beginning instead.
 */
final class CountersTest {
    private static final Pattern RISING_REMAINDER =
            Pattern.compile("(\\+\\+\\s*%)|(\\+\\+[\\w.]+(\\[[^\\]]*])?\\s*%)|(Increment\\(\\)\\s*%)|(incrementAndGet\\(\\)\\s*%)");

    @Test
    void shouldTakeNoRisingCounterModuloSomething() throws IOException {
        final List<String> found = new ArrayList<>();
        for (Path file : SourceFiles.all()) {
            final List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (RISING_REMAINDER.matcher(lines.get(i)).find()) {
                    found.add(SourceFiles.root().relativize(file) + ":" + (i + 1) + " " + lines.get(i).trim());
                }
            }
        }
        assertThat(found).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "all.get(next++ % all.size())",
                "if (++waits % 64 == 0) {",
                "rounds[server]++ %n",
                "++counts[i] % 4",
                "next.getAndIncrement() % threads",
                "next.incrementAndGet() % threads"
            })
    void shouldFindOne(String line) {
        assertThat(RISING_REMAINDER.matcher(line).find()).isTrue();
    }
}
