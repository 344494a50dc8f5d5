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
 * Overflow rules. An ever-increasing counter taken modulo a size overflows to a negative remainder, so round-robin
 * counters must wrap to their start. Times of a clock with an arbitrary origin are compared by their difference.
 */
final class CountersTest {
    private static final Pattern RISING_REMAINDER = Pattern.compile(
            "(\\+\\+\\s*%)|(\\+\\+[\\w.]+(\\[[^\\]]*])?\\s*%)|(Increment\\(\\)\\s*%)|(incrementAndGet\\(\\)\\s*%)");

    /** A monotonic time that stands alone beside a comparison, or in a minimum or maximum. */
    private static final Pattern COMPARED_TIME =
            Pattern.compile("(?<![-+] )(?<![\\w.])(nowNs|[\\w.]*nanoTime\\(\\)) (<|>)=? "
                    + "|[<>]=? (nowNs|[\\w.]*nanoTime\\(\\))(?! [-+])(?!\\w)"
                    + "|Math\\.(min|max)\\(([^();]*, )?(nowNs|[\\w.]*nanoTime\\(\\))(?! -)(?!\\w)");

    private static List<String> linesWith(Pattern pattern) throws IOException {
        final List<String> found = new ArrayList<>();
        for (Path file : SourceFiles.all()) {
            final List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (pattern.matcher(lines.get(i)).find()) {
                    found.add(SourceFiles.root().relativize(file) + ":" + (i + 1) + " "
                            + lines.get(i).trim());
                }
            }
        }
        return found;
    }

    @Test
    void shouldTakeNoRisingCounterModuloSomething() throws IOException {
        assertThat(linesWith(RISING_REMAINDER)).isEmpty();
    }

    /** The clock's origin is arbitrary and it may overflow: two of its times are compared by their difference. */
    @Test
    void shouldCompareTimesByTheirDifference() throws IOException {
        // Simulated times begin at 0, and the other tools of that module run for a short time.
        assertThat(linesWith(COMPARED_TIME)).allMatch(line -> line.startsWith("sim/"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "if (nowNs < nextNs) {",
                "while (System.nanoTime() < end) {",
                "if (clock.nanoTime() >= deadlineNs) {",
                "return deadlineNs <= nowNs;",
                "return deadlineNs > clock.nanoTime();",
                "askRouting(link, Math.min(deadlineNs, clock.nanoTime() + settings.connectNs()));",
                "final long first = Math.max(nowNs, dueNs);"
            })
    void shouldFindATimeThatIsCompared(String line) {
        assertThat(COMPARED_TIME.matcher(line).find()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "if (nowNs - nextNs < 0) {",
                "return deadlineNs - nowNs < Math.max(1, (deadlineNs - beginNs) / LEAST_SHARE);",
                "while (!own.isDone() && deadlineNs - clock.nanoTime() > 0) {",
                "Math.min(SLICE_NS, first.atNs() - clock.nanoTime());",
                "return startNs == 0 ? 0 : Math.max(0, clock.nanoTime() - startNs);",
                "nextNs = nowNs + Math.min(leftNs, longestNs);",
                "return Math.max(input.ageNs(nowNs), output.ageNs(nowNs));"
            })
    void shouldLetDifferencesPass(String line) {
        assertThat(COMPARED_TIME.matcher(line).find()).isFalse();
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
