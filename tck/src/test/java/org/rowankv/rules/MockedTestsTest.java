package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of the server with mocks run in JVMs of their own: Mockito rewrites the classes that it mocks, and from then on
 * their methods allocate, which other tests count.
 */
final class MockedTestsTest {
    private static boolean isMixedIn(String source) {
        return source.contains("import org.mockito.") || source.contains("import static org.mockito.")
                ? !source.contains("@Tag(\"mocked\")")
                : source.contains("@Tag(\"mocked\")");
    }

    @Test
    void shouldCarryTheirTag() throws IOException {
        final Path tests = SourceFiles.root().resolve("server/src/test/java");
        final List<Path> mixedIn = new ArrayList<>();
        for (Path file : SourceFiles.withTests()) {
            if (file.startsWith(tests) && isMixedIn(Files.readString(file))) {
                mixedIn.add(tests.relativize(file));
            }
        }
        assertThat(mixedIn)
                .as("a test with mocks and without the tag, or the other way round")
                .isEmpty();
    }

    @Test
    void shouldFindOneThatDoesNot() {
        assertThat(isMixedIn("import static org.mockito.Mockito.mock;\nfinal class ATest {}"))
                .isTrue();
        assertThat(isMixedIn("import org.mockito.Mock;\n@Tag(\"mocked\")\nfinal class ATest {}"))
                .isFalse();
        assertThat(isMixedIn("@Tag(\"mocked\")\nfinal class ATest {}")).isTrue();
        assertThat(isMixedIn("final class ATest {}")).isFalse();
    }
}
