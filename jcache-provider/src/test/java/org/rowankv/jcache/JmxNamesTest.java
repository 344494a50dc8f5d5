package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** URIs of managers in the names of beans: our own, and those that meter libraries build. */
final class JmxNamesTest {
    @TempDir
    private Path temporary;

    /** As Micrometer builds the name of a cache's statistics. */
    private static ObjectName nameOfMeters(URI uri) throws MalformedObjectNameException {
        return new ObjectName("javax.cache:type=CacheStatistics,CacheManager="
                + uri.toString().replace(':', '.') + ",Cache=books");
    }

    private List<URI> uris() throws IOException {
        final Path file = Files.createDirectory(temporary.resolve("with space")).resolve("rowan.properties");
        Files.writeString(file, "name=jmx\n");
        final List<URI> uris = new ArrayList<>();
        uris.add(URI.create("rowan:embedded"));
        uris.add(URI.create("rowan:shop"));
        uris.add(file.toUri());
        return uris;
    }

    @Test
    void shouldOpenManagersWhoseUrisAreNamesOfMeters() throws Exception {
        final Properties properties = new Properties();
        properties.setProperty("rowan.stores.shop.workers", "4");
        try (RowanCachingProvider provider = new RowanCachingProvider()) {
            for (URI uri : uris()) {
                final CacheManager manager = provider.getCacheManager(uri, null, properties);
                manager.createCache("books", new MutableConfiguration<>().setStatisticsEnabled(true));
                assertThat(manager.getURI()).as("as JCache says").isEqualTo(uri);
                assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(nameOfMeters(uri)))
                        .as("%s", uri)
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rowan://a:7171;b:7171/",
                "rowan://%5B::1%5D:7171;b:7171/",
                "classpath:rowan.properties",
                "jar:file:/srv/app.jar!/rowan.properties"
            })
    void shouldHaveUrisThatAreNamesOfMeters(String uri) throws Exception {
        assertThat(nameOfMeters(URI.create(uri))).isNotNull();
    }

    /** Why there are other ways to say the same. */
    @ParameterizedTest
    @ValueSource(strings = {"rowan:embedded?dir=/x", "rowan://a:7171,b:7171/"})
    void shouldKnowWhichUrisAreNoNamesOfMeters(String uri) {
        assertThatThrownBy(() -> nameOfMeters(URI.create(uri))).isInstanceOf(MalformedObjectNameException.class);
    }

    /** Our own beans have legal names whatever the URI. */
    @Test
    void shouldRegisterBeansOfAManagerWithAnyUri() throws Exception {
        final URI uri = URI.create("rowan:embedded?name=a%2Cb%3Dc%2A%3F%22");
        try (RowanCachingProvider provider = new RowanCachingProvider()) {
            provider.getCacheManager(uri, null)
                    .createCache("of any, uri", new MutableConfiguration<>().setStatisticsEnabled(true));
            assertThat(ManagementFactory.getPlatformMBeanServer()
                            .queryNames(new ObjectName("javax.cache:type=CacheStatistics,*"), null))
                    .extracting(name -> name.getKeyProperty("Cache"))
                    .anyMatch(name -> name.contains("uri"));
        }
    }
}
