package org.rowankv.samples.micronaut;

import static org.assertj.core.api.Assertions.assertThat;

import io.micronaut.context.ApplicationContext;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GreetingsTest {
    @TempDir
    Path directory;

    private ApplicationContext start() {
        return ApplicationContext.run(
                Map.of("caches.uri", "rowan:embedded?capacity=16m&template.greetings.create=true&dir=" + directory));
    }

    @Test
    void shouldCacheResultsOfMethodsFromRunToRun() {
        try (ApplicationContext application = start()) {
            final Greetings greetings = application.getBean(Greetings.class);
            assertThat(greetings.greet("en", "Ann")).isEqualTo("Hello Ann, no. 1");
            assertThat(greetings.greet("de", "Ann")).isEqualTo("Guten Tag Ann, no. 2");
            assertThat(greetings.greet("en", "Ann")).isEqualTo("Hello Ann, no. 1");
            greetings.forget("en", new String("Ann".toCharArray()));
            assertThat(greetings.greet("en", "Ann")).isEqualTo("Hello Ann, no. 3");
            assertThat(greetings.greet("en", "en")).isEqualTo("Hello en, no. 4");
            greetings.forget("en", new String("en".toCharArray())); // two texts where there was one
            assertThat(greetings.greet("en", "en")).isEqualTo("Hello en, no. 5");
        }
        try (ApplicationContext application = start()) {
            final Greetings greetings = application.getBean(Greetings.class);
            assertThat(greetings.greet("de", "Ann")).isEqualTo("Guten Tag Ann, no. 2");
        }
    }
}
