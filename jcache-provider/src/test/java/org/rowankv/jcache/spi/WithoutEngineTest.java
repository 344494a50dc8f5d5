package org.rowankv.jcache.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An application without the engine on its class path: a class loader without engine classes. */
final class WithoutEngineTest {
    /** The classes or the jar of module {@code server}. */
    private static final Pattern ENGINE =
            Pattern.compile(".*[/\\\\](server[/\\\\]target[/\\\\].*|rowan-server-[^/\\\\]*\\.jar)");

    private URLClassLoader loader;
    private Object provider;

    @BeforeEach
    void loadTheProvider() throws ReflectiveOperationException {
        final String[] classPath = System.getProperty("java.class.path").split(File.pathSeparator);
        assertThat(classPath).as("or nothing is left out").anyMatch(WithoutEngineTest::isOfTheEngine);
        loader = new URLClassLoader(
                Arrays.stream(classPath)
                        .filter(entry -> !isOfTheEngine(entry))
                        .map(WithoutEngineTest::url)
                        .toArray(URL[]::new),
                ClassLoader.getPlatformClassLoader());
        provider = loader.loadClass(RowanCachingProvider.class.getName())
                .getConstructor()
                .newInstance();
    }

    @AfterEach
    void closeTheProvider() throws Exception {
        provider.getClass().getMethod("close").invoke(provider);
        loader.close();
    }

    @Test
    void shouldNameTheArtifactThatAnEmbeddedStoreNeeds() {
        assertThatThrownBy(() -> open("rowan:embedded?servers=1"))
                .hasMessageContaining("rowan:embedded needs the engine")
                .hasMessageContaining("org.rowankv:rowan-server")
                .hasMessageContaining("rowan://HOST:PORT");
    }

    @Test
    void shouldStillRefuseWhatIsWrongInTheUri() {
        assertThatThrownBy(() -> open("rowan:embedded?sevrers=1")).hasMessageContaining("sevrers");
    }

    /** No server listens at that address: the client was used, and reports that. */
    @Test
    void shouldTryToReachServersThatRunElsewhere() {
        assertThatThrownBy(() -> open("rowan://127.0.0.1:1?operation-timeout=1"))
                .hasMessageContaining("127.0.0.1:1");
    }

    private void open(String uri) throws Throwable {
        try {
            provider.getClass()
                    .getMethod("getCacheManager", URI.class, ClassLoader.class, Properties.class)
                    .invoke(provider, URI.create(uri), loader, null);
        } catch (InvocationTargetException e) {
            assertThat(e.getCause().getClass().getName()).isEqualTo("javax.cache.CacheException");
            throw e.getCause();
        }
    }

    private static boolean isOfTheEngine(String entry) {
        return ENGINE.matcher(entry).matches();
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(entry, e);
        }
    }
}
