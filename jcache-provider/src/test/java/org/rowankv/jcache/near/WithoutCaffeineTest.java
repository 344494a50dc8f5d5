package org.rowankv.jcache.near;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** An application without Caffeine on its class path: a class loader without it. */
final class WithoutCaffeineTest {
    /** Runs in that class loader. */
    public static final class Application implements Callable<String> {
        @Override
        public String call() {
            final Properties properties = new Properties();
            properties.setProperty("rowan.template.near.near", "validated");
            try (RowanCachingProvider provider = new RowanCachingProvider();
                    CacheManager manager = provider.getCacheManager(
                            URI.create("rowan:embedded?name=without"),
                            getClass().getClassLoader(),
                            properties)) {
                final Cache<String, String> others = manager.createCache("others", new MutableConfiguration<>());
                others.put("k", "v");
                try {
                    manager.createCache("near", new MutableConfiguration<>());
                    return "opened";
                } catch (CacheException e) {
                    return others.get("k") + ": " + e.getMessage();
                }
            }
        }
    }

    @Test
    void shouldNameTheLibraryThatANearCacheNeeds() throws Exception {
        final List<URL> urls = new ArrayList<>();
        boolean isLeftOut = false;
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (entry.contains("caffeine")) {
                isLeftOut = true;
            } else {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        assertThat(isLeftOut).isTrue();
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            final Object application = loader.loadClass(Application.class.getName())
                    .getConstructor()
                    .newInstance();
            assertThat((String) ((Callable<?>) application).call())
                    .startsWith("v: ")
                    .contains("cache near")
                    .contains("com.github.ben-manes.caffeine:caffeine 3")
                    .contains("near=off");
        }
    }
}
