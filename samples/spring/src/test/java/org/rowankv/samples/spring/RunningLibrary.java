package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.persistence.EntityManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application in this JVM, with a database of its own, and what each configuration of its cache has to do. */
final class RunningLibrary implements AutoCloseable {
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConfigurableApplicationContext context;

    private RunningLibrary(ConfigurableApplicationContext context) {
        this.context = context;
    }

    static RunningLibrary start(String... properties) {
        return start(new Class<?>[] {LibraryApplication.class}, properties);
    }

    /** @param sources the application, and what a test adds to it */
    static RunningLibrary start(Class<?>[] sources, String... properties) {
        final List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.datasource.url=jdbc:h2:mem:library" + DATABASES.incrementAndGet(),
                "--spring.jpa.properties.hibernate.generate_statistics=true",
                "--spring.jpa.properties.hibernate.session.events.log=false",
                "--management.endpoint.health.show-details=always"));
        for (String property : properties) {
            arguments.add("--" + property);
        }
        return new RunningLibrary(SpringApplication.run(sources, arguments.toArray(new String[0])));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        final String port = context.getEnvironment().getProperty("local.server.port");
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** The body, or the code of another status than 200. */
    String get(String path) throws IOException, InterruptedException {
        final HttpResponse<String> response = send("GET", path);
        return response.statusCode() == 200 ? response.body() : String.valueOf(response.statusCode());
    }

    int post(String path) throws IOException, InterruptedException {
        return send("POST", path).statusCode();
    }

    /** Of a component too where it is asked for, whatever the status. */
    String health() throws IOException, InterruptedException {
        return send("GET", "/actuator/health").body();
    }

    private Statistics statistics() {
        return bean(EntityManagerFactory.class).unwrap(SessionFactory.class).getStatistics();
    }

    /** @param isEmbedded whether the store is in this JVM */
    void requireCaching(boolean isEmbedded) throws Exception {
        assertThat(get("/notes/n")).isEqualTo("404");
        final long before = statistics().getPrepareStatementCount();
        assertThat(get("/notes/n")).as("a result that is null, cached").isEqualTo("404");
        assertThat(statistics().getPrepareStatementCount()).isEqualTo(before);
        assertThat(post("/notes/n")).isEqualTo(200);
        assertThat(get("/notes/n")).isEqualTo("1");
        assertThat(get("/notes/a/b")).as("a key of two arguments").isEqualTo("404");

        assertThat(post("/authors/author/books/isbn")).isEqualTo(200);
        assertThat(get("/books/isbn/price")).isEqualTo("0");
        assertThat(post("/books/isbn/price/8")).isEqualTo(200);
        assertThat(get("/books/isbn/price")).isEqualTo("8");
        assertThat(statistics().getSecondLevelCacheHitCount()).isPositive();

        assertThat(health()).contains("\"rowan\":{\"status\":\"UP\"").contains("\"caches\":");
        final String metrics = get("/actuator/prometheus");
        assertThat(metrics.lines()
                        .filter(line -> line.startsWith("cache_"))
                        .map(line -> line.substring(0, line.indexOf('{')))
                        .distinct())
                .contains(
                        "cache_gets_total",
                        "cache_puts_total",
                        "cache_evictions_total",
                        "cache_removals_total",
                        "cache_size",
                        "cache_bytes")
                .hasSizeGreaterThanOrEqualTo(6);
        assertThat(metrics).contains("rowan_client_reconnects_total ");
        assertThat(metrics.contains("rowan_store_entries ")).isEqualTo(isEmbedded);
    }

    /** A thousand callers of a method with {@code sync = true}. */
    void requireOneLoadForAThousandRequestsAtOnce() throws Exception {
        final NoteService notes = bean(NoteService.class);
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

    @Override
    public void close() {
        context.close();
    }
}
