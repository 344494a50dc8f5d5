package org.rowankv.jcache.configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.cache.CacheException;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.protocol.CacheLimit;

/** Syntax of templates, and the selection of a cache's template. */
class TemplatesTest {
    private final Properties properties = new Properties();

    private Templates templates() {
        return templates("rowan:embedded");
    }

    private Templates templates(String uri) {
        return templates(uri, new Properties());
    }

    private Templates templates(String uri, Properties system) {
        return StoreSettings.of(
                        URI.create(uri),
                        new SettingSources(
                                properties, system, Map.of(), getClass().getClassLoader()))
                .templates();
    }

    private TemplatesTest with(String name, String text) {
        properties.setProperty("rowan.template." + name, text);
        return this;
    }

    private ExpiryPolicy expiryOf(Templates templates, String cacheName) {
        return templates
                .find(cacheName)
                .fill(new MutableConfiguration<>(), getClass().getClassLoader())
                .getExpiryPolicyFactory()
                .create();
    }

    @ParameterizedTest
    @CsvSource({
        "books, books, true",
        "books, book, false",
        "books, bookstore, false",
        "*, anything.at.all, true",
        "com.acme.*, com.acme.a.b.C, true",
        "com.acme.*, com.acme., true",
        "com.acme.*, com.acme, false",
        "com.acme.*, com-acme.a, false",
        "*.Order.*s, shop.Order.items, true",
        "*.Order.*s, shop.Order.items.x, false",
        "*a*b, aabab, true",
        "*a*b, aaba, false",
        "a[bc].d, a[bc].d, true",
        "a[bc].d, ab.d, false",
        "'a b/ü', 'a b/ü', true"
    })
    void shouldMatchNames(String pattern, String name, boolean matches) {
        assertThat(with(pattern + ".create", "true").templates().find(name) != null)
                .isEqualTo(matches);
    }

    /** A pattern of many stars and a name that nearly matches, where trying every split would take for ever. */
    @Test
    void shouldMatchManyStarsWithoutTryingEverySplit() {
        final Templates templates = with("*a".repeat(500) + "b.create", "true").templates();
        assertThat(templates.find("a".repeat(1_000))).isNull();
        assertThat(templates.find("a".repeat(1_000) + "b")).isNotNull();
    }

    @Test
    void shouldTakeTheMostExactOfThePatternsThatMatch() {
        final Templates templates = with("*.expiry", "created:1s")
                .with("com.acme.*.expiry", "created:2s")
                .with("com.acme.Order.expiry", "created:3s")
                .with("*.Order.expiry", "created:4s")
                .with("com.acme.Order*.expiry", "created:5s")
                .with("ab*.expiry", "created:6s")
                .with("*bc.expiry", "created:7s")
                .templates();
        assertThat(secondsOf(templates, "other")).isEqualTo(1);
        assertThat(secondsOf(templates, "com.acme.Item")).isEqualTo(2);
        assertThat(secondsOf(templates, "com.acme.Order"))
                .as("no star before as many characters with one")
                .isEqualTo(3);
        assertThat(secondsOf(templates, "org.acme.Order")).isEqualTo(4);
        assertThat(secondsOf(templates, "com.acme.OrderLine")).isEqualTo(5);
        assertThat(secondsOf(templates, "abc"))
                .as("equally exact: in the order of the text")
                .isEqualTo(7);
    }

    private long secondsOf(Templates templates, String cacheName) {
        return expiryOf(templates, cacheName).getExpiryForCreation().getDurationAmount();
    }

    @Test
    void shouldKnowThePoliciesOfTheStandardAndEveryUnit() {
        final Templates templates = with("a.expiry", "created:250ms")
                .with("b.expiry", "modified:10m")
                .with("c.expiry", " accessed:1h ")
                .with("d.expiry", "touched:7d")
                .with("e.expiry", "eternal")
                .templates();
        assertThat(expiryOf(templates, "a"))
                .isEqualTo(new CreatedExpiryPolicy(new Duration(TimeUnit.MILLISECONDS, 250)));
        assertThat(expiryOf(templates, "b")).isEqualTo(new ModifiedExpiryPolicy(Duration.TEN_MINUTES));
        assertThat(expiryOf(templates, "c")).isEqualTo(new AccessedExpiryPolicy(Duration.ONE_HOUR));
        assertThat(expiryOf(templates, "d")).isEqualTo(new TouchedExpiryPolicy(new Duration(TimeUnit.DAYS, 7)));
        assertThat(expiryOf(templates, "e")).isEqualTo(new EternalExpiryPolicy());
    }

    @ParameterizedTest
    @CsvSource({
        "books.expiry, 10m, created:",
        "books.expiry, modified, whole number",
        "books.expiry, modified:, whole number",
        "books.expiry, modified:10, whole number",
        "books.expiry, modified:10 m, whole number",
        "books.expiry, modified:10x, whole number",
        "books.expiry, modified:0s, whole number",
        "books.expiry, modified:-1s, whole number",
        "books.expiry, modified:99999999999999999999s, whole number",
        "books.expiry, forever:1s, created:",
        "books.expiry, '', created:",
        "books.statistics, yes, true or false",
        "books.when-full, throw, refuse or evict",
        "books.content, new, kept or fresh",
        "books.generation, '', text",
        "books.store-by-reference, true, refuse or copy",
        "books.near, leased, off or validated",
        "books.near-bytes, 0, a unit",
        "books.near-bytes, none, a unit",
        "books.create, '', true or false",
        "books.key-type, '', a class name",
        "books.key-type, no.such.Type, cannot load",
        "books.color, red, 'none of expiry, statistics, management, key-type, value-type, max-entries, max-bytes, when-full, content, generation, store-by-reference, keys, codec, near, near-bytes, create'",
        "books, x, no pattern",
        "expiry, eternal, no pattern",
        ".expiry, eternal, no pattern",
        "a.**.expiry, eternal, two stars"
    })
    void shouldSayWhatIsWrongWithATemplate(String name, String text, String why) {
        assertThatThrownBy(
                        () -> with(name, text).templates().checkTypes(getClass().getClassLoader()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining(name.replaceAll("\\.[a-z-]*$", ""))
                .hasMessageContaining(why);
    }

    @Test
    void shouldRefuseAPatternLongerThanAName() {
        with("x".repeat(1_025) + ".create", "true");
        assertThatThrownBy(this::templates).isInstanceOf(CacheException.class).hasMessageContaining("1024 bytes");
    }

    @Test
    void shouldTakeTheUriBeforePropertiesBeforeTheSystemBeforeTheFile(@TempDir Path directory) throws Exception {
        final Path file = Files.writeString(directory.resolve("caches.properties"), """
                # of the application
                a.expiry = created:1s
                b.expiry = created:1s
                c.expiry = created:1s
                d\\ \u00fc.expiry = created:1s
                """);
        final Properties system = new Properties();
        system.setProperty("rowan.template.b.expiry", "created:2s");
        system.setProperty("rowan.template.c.expiry", "created:2s");
        with("c.expiry", "created:3s").with("e.expiry", "created:3s");
        final String uri = "rowan:embedded?template.e.expiry=created:4s&template.f%26*.expiry=created:4s&templates="
                + URLEncoder.encode(file.toString(), StandardCharsets.UTF_8);
        final Templates templates = templates(uri, system);
        assertThat(secondsOf(templates, "a")).isEqualTo(1);
        assertThat(secondsOf(templates, "d ü")).isEqualTo(1);
        assertThat(secondsOf(templates, "b")).isEqualTo(2);
        assertThat(secondsOf(templates, "c")).isEqualTo(3);
        assertThat(secondsOf(templates, "e")).isEqualTo(4);
        assertThat(secondsOf(templates, "f&g")).isEqualTo(4);
    }

    @Test
    void shouldSayWhatIsWrongWithAFile(@TempDir Path directory) throws Exception {
        assertThatThrownBy(() -> templates("rowan:embedded?templates=" + directory + "/none"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining(directory + "/none");
        final Path file = Files.writeString(directory.resolve("f"), "rowan.template.books.expiry=eternal");
        assertThatThrownBy(() -> templates("rowan:embedded?templates=" + file))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("without rowan.template.");
        Files.writeString(file, "books.expiry=\\u00zz");
        assertThatThrownBy(() -> templates("rowan:embedded?templates=" + file))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("cannot be read");
        Files.writeString(file, "books.colour=red");
        assertThatThrownBy(() -> templates("rowan:embedded?templates=" + file))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("colour");
    }

    @ParameterizedTest
    @CsvSource({"500, , 500, 0", ", 64k, 0, 65536", "7, 1g, 7, 1073741824", "none, , 0, 0", "none, 9, 0, 9"})
    void shouldReadLimits(String entries, String bytes, long maxEntries, long maxBytes) {
        if (entries != null) {
            with("a.max-entries", entries);
        }
        if (bytes != null) {
            with("a.max-bytes", bytes);
        }
        assertThat(templates().find("a").limit()).isEqualTo(new CacheLimit(maxEntries, maxBytes));
    }

    @Test
    void shouldSayNothingOfLimitsUnlessTold() {
        assertThat(with("a.create", "true").templates().find("a").limit()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "max-entries, 0",
        "max-entries, -1",
        "max-entries, 5k",
        "max-entries, many",
        "max-entries, ''",
        "max-entries, 99999999999999999999",
        "max-bytes, 0",
        "max-bytes, 10t",
        "max-bytes, 9999999999999g"
    })
    void shouldRefuseLimitsThatAreNone(String entry, String text) {
        with("a." + entry, text);
        assertThatThrownBy(this::templates)
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("a." + entry)
                .hasMessageContaining("none");
    }

    @Test
    void shouldShareTheStoreWhereACacheGivesWayAndHasNoLimitOfBytes() {
        final Templates templates = with("a.when-full", "evict")
                .with("b.when-full", "evict")
                .with("b.max-bytes", "1k")
                .with("c.when-full", "evict")
                .with("c.max-entries", "7")
                .with("c.max-bytes", "none")
                .with("d.when-full", "refuse")
                .with("e.create", "true")
                .templates();
        assertThat(templates.find("a").limit()).isEqualTo(new CacheLimit(CacheLimit.NO_LIMIT, CacheLimit.SHARED));
        assertThat(templates.find("b").limit()).isEqualTo(new CacheLimit(CacheLimit.NO_LIMIT, 1024));
        assertThat(templates.find("c").limit()).isEqualTo(new CacheLimit(7, CacheLimit.SHARED));
        assertThat(templates.find("d").limit()).as("replaces a stored limit").isEqualTo(CacheLimit.NONE);
        assertThat(templates.find("e").limit()).as("leaves a stored limit").isNull();
    }

    @Test
    void shouldKeepNothingNearUnlessSaid() {
        final Templates templates = with("a.near", "validated")
                .with("b.near", "validated")
                .with("b.near-bytes", "3m")
                .with("c.near", "off")
                .with("c.near-bytes", "3m")
                .with("d.near-bytes", "3m")
                .templates();
        assertThat(templates.find("a").nearBytes())
                .isEqualTo(Runtime.getRuntime().maxMemory() / 64);
        assertThat(templates.find("b").nearBytes()).isEqualTo(3 << 20);
        assertThat(templates.find("c").nearBytes()).isZero();
        assertThat(templates.find("d").nearBytes()).isZero();
    }
}
