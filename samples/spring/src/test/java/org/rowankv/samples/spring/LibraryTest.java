package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.persistence.EntityManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application over HTTP, with Actuator and each way to configure its cache. */
final class LibraryTest {
    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private ConfigurableApplicationContext application;

    private void start(String... properties) {
        final List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.datasource.url=jdbc:h2:mem:" + directory.getFileName(),
                "--spring.jpa.properties.hibernate.generate_statistics=true",
                "--management.endpoint.health.show-details=always"));
        for (String property : properties) {
            arguments.add("--" + property.replace("DIR", directory.toString()));
        }
        application = SpringApplication.run(LibraryApplication.class, arguments.toArray(new String[0]));
    }

    @AfterEach
    void stop() {
        if (application != null) {
            application.close();
        }
        System.clearProperty("rowan.uri");
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        final String port = application.getEnvironment().getProperty("local.server.port");
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private String get(String path) throws IOException, InterruptedException {
        final HttpResponse<String> response = send("GET", path);
        return response.statusCode() == 200 ? response.body() : String.valueOf(response.statusCode());
    }

    private void post(String path) throws IOException, InterruptedException {
        assertThat(send("POST", path).statusCode()).isEqualTo(200);
    }

    private Statistics statistics() {
        return application
                .getBean(EntityManagerFactory.class)
                .unwrap(SessionFactory.class)
                .getStatistics();
    }

    private void usesItsCache() throws Exception {
        assertThat(get("/notes/n")).isEqualTo("404");
        final long before = statistics().getPrepareStatementCount();
        assertThat(get("/notes/n")).as("a result that is null, cached").isEqualTo("404");
        assertThat(statistics().getPrepareStatementCount()).isEqualTo(before);
        post("/notes/n");
        assertThat(get("/notes/n")).isEqualTo("1");
        assertThat(get("/notes/a/b")).as("a key of two arguments").isEqualTo("404");

        application.getBean(BookService.class).add("author", "isbn", 7);
        assertThat(get("/books/isbn/price")).isEqualTo("7");
        post("/books/isbn/price/8");
        assertThat(get("/books/isbn/price")).isEqualTo("8");
        assertThat(statistics().getSecondLevelCacheHitCount()).isPositive();

        assertThat(get("/actuator/health"))
                .contains("\"rowan\":{\"status\":\"UP\"")
                .contains("\"caches\":");
        assertThat(get("/actuator/prometheus")
                        .lines()
                        .filter(line -> line.startsWith("cache_"))
                        .map(line -> line.substring(0, line.indexOf('{')))
                        .distinct())
                .contains("cache_gets_total", "cache_puts_total", "cache_evictions_total", "cache_removals_total")
                .hasSizeGreaterThanOrEqualTo(6);
        assertThat(get("/actuator/prometheus")).contains("rowan_store_entries ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rowan.dir=DIR/store", "rowan.uri=rowan:embedded?dir=DIR/store&capacity=64m"})
    void shouldBeConfiguredByProperties(String property) throws Exception {
        start(property);

        usesItsCache();
        assertThat(directory.resolve("store")).isNotEmptyDirectory();
    }

    @Test
    void shouldBeConfiguredByASystemProperty() throws Exception {
        System.setProperty("rowan.uri", "rowan:embedded?dir=" + directory.resolve("store"));
        start();

        usesItsCache();
        assertThat(directory.resolve("store")).isNotEmptyDirectory();
    }

    @Test
    void shouldBeConfiguredByAFile() throws Exception {
        final Path file = directory.resolve("rowan.properties");
        Files.writeString(file, "dir=" + directory.resolve("store") + "\ncapacity=64m\n");
        start("spring.cache.jcache.config=" + file.toUri());

        usesItsCache();
        assertThat(directory.resolve("store")).isNotEmptyDirectory();
    }

    @Test
    void shouldLoadOnceForAThousandRequestsAtOnce() throws Exception {
        start("rowan.settings.name=once");
        final NoteService notes = application.getBean(NoteService.class);
        final ExecutorService callers = Executors.newFixedThreadPool(1_000);
        final CountDownLatch begin = new CountDownLatch(1);
        final List<Future<Integer>> responses = new ArrayList<>();
        final long before = statistics().getPrepareStatementCount();
        for (int i = 0; i < 1_000; i++) {
            responses.add(callers.submit(() -> {
                begin.await();
                return notes.shared("never written");
            }));
        }
        begin.countDown();
        for (Future<Integer> response : responses) {
            assertThat(response.get(60, TimeUnit.SECONDS)).isNull();
        }
        callers.shutdown();

        assertThat(statistics().getPrepareStatementCount() - before).isEqualTo(1);
    }

    @Test
    void shouldRespondAsWithoutACache() throws Exception {
        start("rowan.settings.name=responses");
        final RequestRun run =
                new RequestRun(application.getBean(NoteService.class), application.getBean(BookService.class), 4_000);
        run.run(null);

        assertThat(run).hasToString("dropin: requests=4000 differences=0 stale=0 errors=0");
    }
}
