package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.configuration.TemplateEntry;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.cache.CacheMetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration;
import org.springframework.boot.autoconfigure.cache.JCacheManagerCustomizer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Tag("jvm")
final class RowanAutoConfigurationTest {
    @TempDir
    Path directory;

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    CacheAutoConfiguration.class,
                    RowanAutoConfiguration.class,
                    RowanHealthAutoConfiguration.class,
                    RowanMetricsAutoConfiguration.class,
                    MetricsAutoConfiguration.class,
                    CompositeMeterRegistryAutoConfiguration.class,
                    SimpleMetricsExportAutoConfiguration.class,
                    CacheMetricsAutoConfiguration.class))
            .withPropertyValues("rowan.settings.capacity=16m", "rowan.settings.name=${random.uuid}")
            .withUserConfiguration(Library.class);

    record Book(String isbn, String title) implements Serializable {}

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(Books.class)
    static class Library {}

    static class Books {
        private final AtomicInteger calls = new AtomicInteger();

        /** Not the field: a proxy of Spring has none. */
        public int calls() {
            return calls.get();
        }

        @Cacheable("books")
        public Book find(String isbn) {
            calls.incrementAndGet();
            return isbn.startsWith("no") ? null : new Book(isbn, "title of " + isbn);
        }

        @Cacheable("pairs")
        public String pair(String author, String title) {
            calls.incrementAndGet();
            return author + '/' + title;
        }

        @CacheEvict("pairs")
        public void forget(String author, String title) {}

        @Cacheable(value = "slow", sync = true)
        public String slow(String key) throws InterruptedException {
            calls.incrementAndGet();
            TimeUnit.MILLISECONDS.sleep(200); // longer than a store waits before it runs an entry processor twice
            return key;
        }
    }

    private static void useBooks(AssertableApplicationContext context) {
        final Books books = context.getBean(Books.class);
        assertThat(books.find("1")).isEqualTo(books.find("1"));
        assertThat(books.find("none")).isNull();
        assertThat(books.find("none")).isNull();
        assertThat(books.calls()).isEqualTo(2);
    }

    private static double count(AssertableApplicationContext context, String meter, String... tags) {
        return context.getBean(MeterRegistry.class)
                .get(meter)
                .tags("cache", "books")
                .tags(tags)
                .functionCounter()
                .count();
    }

    private void runs(ApplicationContextRunner configured, Consumer<AssertableApplicationContext> then) {
        configured.run(context -> {
            assertThat(context).hasNotFailed();
            useBooks(context);
            assertThat(count(context, "cache.gets", "result", "hit", "cache.manager", "cacheManager"))
                    .isEqualTo(2);
            assertThat(count(context, "cache.gets", "result", "miss")).isEqualTo(2);
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
            then.accept(context);
        });
    }

    @Test
    void shouldCacheCountAndReportHealthWithoutConfiguration() {
        runs(application, context -> assertThat(context).hasSingleBean(javax.cache.CacheManager.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"jackson", "kryo"})
    void shouldKeepValuesByTheCodecOfATemplate(String codec) {
        runs(application.withPropertyValues("rowan.caches.books.codec=" + codec), context -> {
            final RowanClient client =
                    context.getBean(javax.cache.CacheManager.class).unwrap(RowanClient.class);
            final Catalogue.CacheRecord books = client.catalogue().find("books");
            assertThat(new String(books.descriptor(), StandardCharsets.UTF_8)).endsWith(codec);
            final List<String> stored = new ArrayList<>();
            client.scan(books.id(), true)
                    .forEachRemaining(each -> stored.add(new String(each.value(), StandardCharsets.UTF_8)));
            assertThat(stored).hasSize(2).anyMatch(each -> each.contains("title of"));
            assertThat(stored.stream().anyMatch(each -> each.contains("{\"type\":\"")))
                    .isEqualTo(codec.equals("jackson"));
        });
    }

    /** With the starter, and without it as with any provider: the meters of Spring Boot name MBeans by the URI. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStartWithActuatorAndAConfigurationFile(boolean enabled) throws IOException {
        final Path file =
                Files.writeString(directory.resolve("library.properties"), """
                uri = rowan:library
                stores.library.dir = %s
                stores.library.capacity = 16m
                template.*.create = true
                """.formatted(directory.resolve("store")));
        final ApplicationContextRunner configured = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        CacheAutoConfiguration.class,
                        RowanAutoConfiguration.class,
                        RowanMetricsAutoConfiguration.class,
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        CacheMetricsAutoConfiguration.class))
                .withPropertyValues(
                        "rowan.enabled=" + enabled,
                        "spring.cache.type=jcache",
                        "spring.cache.cache-names=books",
                        "spring.cache.jcache.config=" + file.toUri())
                .withUserConfiguration(Library.class);
        configured.run(context -> {
            assertThat(context).hasNotFailed();
            useBooks(context);
            assertThat(directory.resolve("store")).isNotEmptyDirectory();
            assertThat(count(context, "cache.puts")).isNotNegative();
        });
    }

    /** Names of MBeans cannot have such URIs. */
    @ParameterizedTest
    @ValueSource(strings = {"rowan:embedded?dir=DIR", "rowan:embedded?dir=DIR&verify-reads=true"})
    void shouldStartWithActuatorAndAnyUri(String uri) {
        runs(
                application.withPropertyValues("rowan.uri=" + uri.replace("DIR", directory.toString())),
                context -> assertThat(directory).isNotEmptyDirectory());
    }

    @Test
    void shouldKeepCachesInADirectory() {
        final ApplicationContextRunner kept = application.withPropertyValues("rowan.dir=" + directory);
        runs(kept, context -> {});

        kept.run(context -> {
            final Books books = context.getBean(Books.class);
            assertThat(books.find("1")).isEqualTo(new Book("1", "title of 1"));
            assertThat(books.find("none")).isNull();
            assertThat(books.calls()).isEqualTo(0);
        });
    }

    /** As -Drowan.dir=... does. */
    @Test
    void shouldReadSystemProperties() {
        runs(
                application.withSystemProperties("rowan.dir=" + directory),
                context -> assertThat(directory).isNotEmptyDirectory());
    }

    @Test
    void shouldTellKeysOfTwoArgumentsApart() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            books.pair("a", "b");
            books.pair("b", "a");
            assertThat(books.pair("a", "b")).isEqualTo("a/b");
            assertThat(books.calls()).isEqualTo(2);
            books.forget("a", "b");
            books.pair("a", "b");
            assertThat(books.calls()).isEqualTo(3);
        });
    }

    @Test
    void shouldLoadOnceForAThousandCallersAtOnce() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            final ExecutorService callers = Executors.newFixedThreadPool(1_000);
            final CountDownLatch start = new CountDownLatch(1);
            final List<Future<String>> results = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                results.add(callers.submit(() -> {
                    start.await();
                    return books.slow("k");
                }));
            }
            start.countDown();
            for (Future<String> result : results) {
                assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("k");
            }
            callers.shutdown();
            assertThat(books.calls()).isEqualTo(1);
        });
    }

    @Test
    @SuppressWarnings("unchecked") // of the raw class of the configuration
    void shouldMakeTemplatesOfTheCachesInTheProperties() {
        final ApplicationContextRunner configured = application.withPropertyValues(
                "rowan.caches.books.expiry=modified:10m",
                "rowan.caches.books.value-type=" + Book.class.getName(),
                "rowan.caches.book_by_isbn.max-entries=7",
                "rowan.caches.booksByTitle.management=true",
                "rowan.caches[com.acme.*].max-bytes=1m",
                "rowan.caches[*].create=false");
        configured.run(context -> {
            assertThat(context).hasNotFailed();
            final RowanCacheManager manager = context.getBean(RowanCacheManager.class);
            assertThat(manager.getCache("books")
                            .getConfiguration(javax.cache.configuration.CompleteConfiguration.class)
                            .getExpiryPolicyFactory()
                            .create())
                    .isInstanceOf(javax.cache.expiry.ModifiedExpiryPolicy.class);
            assertThat(manager.getCache("com.acme.Book")).isNotNull();
            assertThat(manager.getCache("book_by_isbn")).isNotNull();
            assertThat(manager.getCache("booksByTitle")).isNotNull();
            assertThat(manager.getCache("others")).isNull();
            assertThat(context.getBean(CacheManager.class).getCache("others")).isNull();
        });
    }

    @Test
    void shouldHaveAPropertyForEachEntryOfATemplate() {
        assertThat(CacheTemplateProperties.class.getRecordComponents())
                .extracting(CacheTemplateProperties::nameOf)
                .containsExactlyInAnyOrder(Stream.of(TemplateEntry.values())
                        .map(TemplateEntry::key)
                        .toArray(String[]::new));
    }

    @Test
    void shouldOpenTheNamedCachesAtTheStart() {
        application.withPropertyValues("spring.cache.cache-names=books,films").run(context -> {
            assertThat(context.getBean(CacheManager.class).getCacheNames()).containsExactlyInAnyOrder("books", "films");
            useBooks(context);
            assertThat(count(context, "cache.gets", "result", "hit")).isEqualTo(2);
        });
    }

    /** As YAML, environment and documents write them. */
    @ParameterizedTest
    @ValueSource(strings = {"operation-timeout", "operationTimeout", "OPERATIONTIMEOUT", "operation_timeout"})
    void shouldKnowASettingByEachOfItsForms(String form) {
        final ManagerConfiguration configuration =
                ManagerConfiguration.of(properties(Map.of(form, "3")), null, List.of());

        assertThat(configuration.properties()).containsEntry("rowan.operation-timeout", "3");
    }

    private static RowanProperties properties(Map<String, String> settings) {
        return new RowanProperties(true, null, null, settings, Map.of(), List.of("a.B"), true, CacheErrors.LOG);
    }

    private static String allowed(String uri, List<String> classes, String listed) {
        final RowanProperties given = new RowanProperties(
                true, uri, null, Map.of("allowed-classes", listed), Map.of(), classes, true, CacheErrors.LOG);
        return ManagerConfiguration.of(given, null, List.of("com.acme.shop", "com"))
                .properties()
                .getProperty("rowan.allowed-classes");
    }

    /** Other clients may have written what the servers of a cluster have. */
    @Test
    void shouldAllowTheClassesOfTheApplicationAndOfFrameworksInACluster() {
        assertThat(allowed("rowan://a:1/", List.of(), "")).isEqualTo("com.acme.shop.**;@spring;@hibernate;@jdk");
        assertThat(allowed("rowan://a:1/", List.of("a.B"), "c.D"))
                .isEqualTo("a.B;c.D;com.acme.shop.**;@spring;@hibernate;@jdk");
    }

    @Test
    void shouldLeaveAStoreInThisJvmOpenUnlessClassesAreListed() {
        assertThat(allowed(null, List.of(), "")).isNullOrEmpty();
        assertThat(allowed("rowan:embedded", List.of("a.B"), "")).isEqualTo("a.B;@spring;@hibernate;@jdk");
    }

    @Test
    void shouldRefuseASettingThatDoesNotExist() {
        application
                .withPropertyValues("rowan.settings.capacitance=1g")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("unknown setting \"rowan.capacitance\""));
    }

    @Test
    void shouldSayWhereASettingBelongs() {
        application.withPropertyValues("rowan.capacity=1g").run(context -> {
            final FailureAnalysis analysis = new UnknownPropertyFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains("rowan.capacity");
            assertThat(analysis.getAction()).contains("rowan.settings.capacity: 1g");
        });
    }

    @Test
    void shouldStandBackWhereTheApplicationHasACacheManager() {
        application
                .withBean("mine", CacheManager.class, ConcurrentMapCacheManager::new)
                .run(context ->
                        assertThat(context.getBean(CacheManager.class)).isInstanceOf(ConcurrentMapCacheManager.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rowan.enabled=false", "spring.cache.type=simple"})
    void shouldDoNothingWhenDisabled(String property) {
        application
                .withPropertyValues(property)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(RowanProperties.class)
                        .doesNotHaveBean(RowanSpringCacheManager.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class Customized {
        @Bean
        JCacheManagerCustomizer creating() {
            return manager -> manager.createCache(
                    "typed",
                    new javax.cache.configuration.MutableConfiguration<String, Integer>()
                            .setTypes(String.class, Integer.class)
                            .setStoreByValue(false));
        }
    }

    @Test
    void shouldLetTheApplicationCreateCachesOfItsOwnWithReferencesToo() {
        application.withUserConfiguration(Customized.class).run(context -> {
            context.getBean(CacheManager.class).getCache("typed").put("k", 1);
            assertThat(context.getBean(RowanCacheManager.class)
                            .getCache("typed", String.class, Integer.class)
                            .get("k"))
                    .isEqualTo(1);
        });
    }

    @Test
    void shouldEvictWhereTheStoreIsFull() {
        application.run(context -> {
            final org.springframework.cache.Cache pages =
                    context.getBean(CacheManager.class).getCache("pages");
            for (int i = 0; i < 3_000; i++) {
                pages.put(i, new byte[10_000]);
            }
            assertThat(pages.get(2_999)).isNotNull();
        });
    }

    @Test
    void shouldBeDownOnceTheStoreIsClosed() {
        application.run(context -> {
            context.getBean(RowanCacheManager.class).close();
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.DOWN);
        });
    }

    /** Contexts of tests live side by side, and one that closes must not take the others' caches away. */
    @Test
    void shouldHaveAManagerForEachContext() {
        application.run(first -> application.run(second -> {
            assertThat(first.getBean(RowanCacheManager.class)).isNotSameAs(second.getBean(RowanCacheManager.class));
            second.close();
            useBooks(first);
        }));
    }
}
