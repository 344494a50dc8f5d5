package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The application over HTTP, with Actuator and each way to configure a store in its JVM. */
@ExtendWith(OutputCaptureExtension.class)
final class LibraryTest {
    @TempDir
    Path directory;

    private void requireCaching(String... properties) throws Exception {
        for (int i = 0; i < properties.length; i++) {
            properties[i] = properties[i].replace("DIR", directory.toString());
        }
        try (RunningLibrary library = RunningLibrary.start(properties)) {
            library.requireCaching(true);
        }
        assertThat(directory.resolve("store")).isNotEmptyDirectory();
    }

    @AfterEach
    void clear() {
        System.clearProperty("rowan.uri");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rowan.dir=DIR/store", "rowan.uri=rowan:embedded?dir=DIR/store&capacity=64m"})
    void shouldBeConfiguredByProperties(String property) throws Exception {
        requireCaching(property);
    }

    @Test
    void shouldBeConfiguredByYaml() throws Exception {
        Files.writeString(directory.resolve("more.yml"), """
                rowan:
                  dir: %s
                  settings:
                    capacity: 64m
                  caches:
                    notes.expiry: modified:10m
                    "[org.rowankv.*]":
                      max-entries: 1000
                """.formatted(directory.resolve("store")));
        requireCaching("spring.config.additional-location=file:DIR/more.yml");
    }

    @Test
    void shouldBeConfiguredByASystemProperty() throws Exception {
        System.setProperty("rowan.uri", "rowan:embedded?dir=" + directory.resolve("store"));
        requireCaching();
    }

    @Test
    void shouldBeConfiguredByAFile() throws Exception {
        final Path file = directory.resolve("rowan.properties");
        Files.writeString(file, "dir=" + directory.resolve("store") + "\ncapacity=64m\n");
        requireCaching("spring.cache.jcache.config=" + file.toUri());
    }

    @Test
    void shouldLoadOnceForAThousandRequestsAtOnce() throws Exception {
        try (RunningLibrary library = RunningLibrary.start("rowan.settings.name=once")) {
            library.requireOneLoadForAThousandRequestsAtOnce();
        }
    }

    @Test
    void shouldRespondAsWithoutACache() throws Exception {
        try (RunningLibrary library = RunningLibrary.start("rowan.settings.name=responses")) {
            final RequestRun run =
                    new RequestRun(library.bean(NoteService.class), library.bean(BookService.class), 4_000);
            run.run(null);

            assertThat(run).hasToString("dropin: requests=4000 differences=0 stale=0 errors=0");
        }
    }

    /** Not one of each of its fifteen caches. */
    @Test
    void shouldLogALineOfItsStore(CapturedOutput output) {
        for (int i = 0; i < 2; i++) {
            final int before = output.getAll().length();
            RunningLibrary.start("rowan.dir=" + directory).close();
            final List<String> lines = output.getAll()
                    .substring(before)
                    .lines()
                    .filter(line -> line.contains("o.r.") || line.contains("org.rowankv.s"))
                    .toList();

            assertThat(lines).filteredOn(line -> line.contains("Store open")).hasSize(1);
            assertThat(lines).as("start %s", i).hasSizeLessThanOrEqualTo(2);
        }
    }
}
