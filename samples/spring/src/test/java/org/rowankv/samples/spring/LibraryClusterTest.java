package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.daemon.local.LocalPorts;

/** The application over HTTP, with Actuator and each way to configure a cluster of three processes. */
final class LibraryClusterTest {
    @TempDir
    static Path directory;

    private static LocalCluster cluster;

    @BeforeAll
    static void prepare() throws IOException {
        cluster = LocalCluster.openOrMake(
                        directory.resolve("cluster"), new LocalCluster.Shape(3, 2, "64m", LocalPorts.free(10)))
                .launchedBy(Launch.DEFAULT.endingWithParent());
    }

    private static void startCluster() throws IOException {
        cluster.start();
        assertThat(cluster.awaitServing(180_000)).isEmpty();
    }

    @AfterAll
    static void stop() throws IOException {
        assertThat(cluster.stop()).isEmpty();
    }

    private static String uri() {
        return "rowan://" + cluster.clientsOf(0) + ';' + cluster.clientsOf(1) + ';' + cluster.clientsOf(2) + '/';
    }

    /** Each application has a database of its own. */
    private static String generation(String of) {
        return "rowan.caches[*].generation=" + of;
    }

    @Test
    void shouldBeConfiguredByAPropertyByYamlAndByAFile() throws Exception {
        startCluster();
        try (RunningLibrary library = RunningLibrary.start("rowan.uri=" + uri(), generation("property"))) {
            library.requireCaching(false);
            library.requireOneLoadForAThousandRequestsAtOnce();
        }

        final Path yaml = Files.writeString(directory.resolve("more.yml"), """
                rowan:
                  uri: %s
                  settings:
                    operation-timeout: 20
                  caches:
                    "[*]":
                      generation: yaml
                """.formatted(uri()));
        try (RunningLibrary library = RunningLibrary.start("spring.config.additional-location=file:" + yaml)) {
            library.requireCaching(false);
        }

        final Path file = Files.writeString(
                directory.resolve("rowan.properties"), "uri=" + uri() + "\ntemplate.*.generation=file\n");
        try (RunningLibrary library = RunningLibrary.start("spring.cache.jcache.config=" + file.toUri())) {
            library.requireCaching(false);
        }
    }

    /** Longer than the application waits for it, and so does each request. */
    @Test
    @Tag("long")
    void shouldReadAndChangeNothingWhileItsClusterIsAway() throws Exception {
        startCluster();
        try (RunningLibrary library =
                RunningLibrary.start("rowan.uri=" + uri(), "rowan.settings.operation-timeout=4", generation("away"))) {
            library.requireCaching(false);
            assertThat(cluster.stopServers()).isEmpty();

            assertThat(library.get("/notes/n")).isEqualTo("1");
            assertThat(library.get("/notes/never")).isEqualTo("404");
            assertThat(library.get("/books/isbn/price"))
                    .as("of Hibernate's caches")
                    .isEqualTo("8");
            assertThat(library.bean(BookService.class).queriedPrice("isbn")).isEqualTo(8);
            assertThat(library.post("/books/isbn/price/9"))
                    .as("what cannot be evicted fails")
                    .isEqualTo(500);
            assertThat(library.get("/actuator/prometheus")).contains("cache_size");

            startCluster();
            while (!library.health().contains("\"rowan\":{\"status\":\"UP\"")) {
                Thread.onSpinWait();
            }
            assertThat(library.get("/books/isbn/price")).isEqualTo("8");
            assertThat(library.post("/books/isbn/price/10")).isEqualTo(200);
            assertThat(library.get("/books/isbn/price")).isEqualTo("10");
            assertThat(library.bean(BookService.class).queriedPrice("isbn")).isEqualTo(10);
        }
    }

    @Test
    void shouldStartBeforeItsCluster() throws Exception {
        cluster.stop();
        try (RunningLibrary library =
                RunningLibrary.start("rowan.uri=" + uri(), "rowan.settings.start=lazy", generation("lazy"))) {
            assertThat(library.get("/notes/n")).as("read from the database").isEqualTo("404");
            assertThat(library.health()).contains("\"rowan\":{\"status\":\"DOWN\"");
            assertThat(library.get("/actuator/prometheus")).contains("rowan_client_reconnects_total");
            assertThat(library.post("/notes/n"))
                    .as("what cannot be evicted fails")
                    .isEqualTo(500);

            startCluster();
            while (!library.health().contains("\"rowan\":{\"status\":\"UP\"")) {
                Thread.onSpinWait();
            }
            assertThat(library.post("/notes/n")).isEqualTo(200);
            assertThat(library.get("/notes/n"))
                    .as("the first change was rolled back")
                    .isEqualTo("1");
        }
    }
}
