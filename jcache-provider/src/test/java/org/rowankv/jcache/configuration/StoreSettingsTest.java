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
import javax.cache.CacheException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreSettingsTest {
    private static StoreSettings of(String uri) {
        return of(uri, new Properties(), new Properties());
    }

    private static StoreSettings of(String uri, Properties properties, Properties system) {
        return StoreSettings.of(URI.create(uri), sources(properties, system));
    }

    private static SettingSources sources(Properties properties, Properties system) {
        return new SettingSources(properties, system, Map.of(), StoreSettingsTest.class.getClassLoader());
    }

    private static URI defaultUri(Properties system) {
        return StoreSettings.defaultUri(sources(new Properties(), system));
    }

    private static Properties properties(String... pairs) {
        final Properties properties = new Properties();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty(pairs[i], pairs[i + 1]);
        }
        return properties;
    }

    @Test
    void shouldTakeTheUriBeforePropertiesBeforeTheSystemBeforeDefaults() {
        final StoreSettings settings = of(
                "rowan:embedded?servers=3",
                properties("rowan.servers", "2", "rowan.replicas", "2", "other.thing", "x"),
                properties("rowan.servers", "1", "rowan.replicas", "1", "rowan.workers", "9", "rowan.unheard", "x"));
        assertThat(settings.count(Setting.SERVERS)).isEqualTo(3);
        assertThat(settings.count(Setting.REPLICAS)).isEqualTo(2);
        assertThat(settings.count(Setting.WORKERS)).isEqualTo(9);
        assertThat(settings.count(Setting.SHARDS)).isZero();
        assertThat(settings.text(Setting.STORE_BY_REFERENCE)).isEqualTo("refuse");
        assertThat(settings.isSet(Setting.SHARDS)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"48m", "48M", "49152k", "50331648"})
    void shouldReadBytesInAnyUnit(String text) {
        assertThat(of("rowan:embedded?capacity=" + text).bytes(Setting.CAPACITY))
                .isEqualTo(48L << 20);
    }

    @Test
    void shouldNameAnUnknownParameterAndListTheKnown() {
        assertThatThrownBy(() -> of("rowan:embedded?severs=3"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("\"severs\"")
                .hasMessageContaining("servers, replicas, dir");
        assertThatThrownBy(() -> of("rowan:embedded", properties("rowan.severs", "3"), new Properties()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("\"rowan.severs\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "servers=0",
                "servers=-1",
                "servers=x",
                "servers=",
                "capacity=0",
                "capacity=12q",
                "capacity=m",
                "capacity=9223372036854775807g",
                "accept-copied=yes",
                "store-by-reference=maybe",
                "servers",
                "=3",
                "servers=1&servers=2"
            })
    void shouldRefuseValuesThatAreNone(String parameter) {
        assertThatThrownBy(() -> of("rowan:embedded?" + parameter))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining(
                        parameter.split("=", -1)[0].isEmpty() ? "=3" : parameter.split("=", -1)[0]);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "other:embedded",
                "rowan:cluster",
                "embedded",
                "rowan:?servers=1",
                "rowan:///",
                "rowan://host/",
                "rowan://host:1/path",
                "rowan://host:1,/",
                "rowan://user@host:1/",
                "rowan://host:1/?servers=3",
                "rowan://host:1/?dir=/tmp/x"
            })
    void shouldRefuseUrisThatNameNoStore(String uri) {
        assertThatThrownBy(() -> of(uri)).isInstanceOf(CacheException.class).hasMessageContaining(uri);
    }

    @Test
    void shouldReadTheAddressesOfACluster() {
        assertThat(of("rowan:embedded").addresses()).isEmpty();
        assertThat(of("rowan://h1:7,h-2.example.org:8/").addresses()).containsExactly("h1:7", "h-2.example.org:8");
        assertThat(of("rowan://h1:7;h-2.example.org:8/?listener-backlog=5").addresses())
                .isEqualTo(of("rowan://h1:7,h-2.example.org:8/").addresses());
        assertThat(of("rowan://127.0.0.1:7").addresses()).containsExactly("127.0.0.1:7");
        assertThat(of("rowan://[::1]:7/?listener-backlog=5").addresses()).containsExactly("[::1]:7");
        assertThat(of("rowan://%5B::1%5D:7000,%5b2001:db8::2%5d:7001,h:7/").addresses())
                .containsExactly("[::1]:7000", "[2001:db8::2]:7001", "h:7");
        final Properties system = new Properties();
        system.setProperty("rowan.uri", "rowan://[::1]:7000,[::1]:7001/?listener-backlog=5");
        final URI several = defaultUri(system);
        assertThat(of(several.toString()).addresses()).containsExactly("[::1]:7000", "[::1]:7001");
        system.setProperty("rowan.uri", "rowan://[::1]:7000");
        assertThat(of(defaultUri(system).toString()).addresses()).containsExactly("[::1]:7000");
        assertThat(of("rowan://h1:7,h2:8/?listener-backlog=5").count(Setting.LISTENER_BACKLOG))
                .isEqualTo(5);
        // Store settings apply to servers in this JVM only, and are ignored here.
        final StoreSettings settings =
                of("rowan://h1:7/", properties("rowan.servers", "3"), properties("rowan.workers", "9"));
        assertThat(settings.storeIdentity()).isEqualTo(of("rowan://h1:7").storeIdentity());
        assertThat(settings.storeIdentity()).isNotEqualTo(of("rowan://h2:7").storeIdentity());
    }

    @Test
    void shouldTakeTheDefaultUriFromTheSystem() {
        assertThat(defaultUri(new Properties())).isEqualTo(StoreSettings.DEFAULT_URI);
        assertThat(defaultUri(properties("rowan.uri", "rowan://h:7/"))).isEqualTo(URI.create("rowan://h:7/"));
        assertThatThrownBy(() -> defaultUri(properties("rowan.uri", "a b")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("rowan.uri");
    }

    @Test
    void shouldKnowAStoreByItsSettingsWhateverTheirOrder() {
        final String plain = of("rowan:embedded").storeIdentity();
        assertThat(of("rowan:embedded?servers=1").storeIdentity()).isEqualTo(plain);
        assertThat(of("rowan:embedded?listener-backlog=7").storeIdentity()).isEqualTo(plain);
        assertThat(of("rowan:embedded?replicas=2&servers=2").storeIdentity())
                .isEqualTo(of("rowan:embedded?servers=2&replicas=2").storeIdentity())
                .isNotEqualTo(plain);
        assertThat(of("rowan:embedded?name=second").storeIdentity()).isNotEqualTo(plain);
    }

    @Test
    void shouldKnowADirectoryInAnySpelling(@TempDir Path directory) throws Exception {
        final Path real = Files.createDirectory(directory.resolve("a + b%é"));
        final Path link = Files.createSymbolicLink(directory.resolve("link"), real);
        final String identity = of(uri(real.toString())).storeIdentity();
        assertThat(of(uri(link.toString())).storeIdentity()).isEqualTo(identity);
        assertThat(of(uri(real + "/../link/.")).storeIdentity()).isEqualTo(identity);
        assertThat(of(uri(link + "/new")).storeIdentity())
                .isEqualTo(of(uri(real + "/new")).storeIdentity())
                .isNotEqualTo(identity);
        assertThat(of(uri(real.toString()) + "&servers=2").storeIdentity()).isEqualTo(identity);
    }

    private static String uri(String directory) {
        return "rowan:embedded?dir="
                + URLEncoder.encode(directory, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
