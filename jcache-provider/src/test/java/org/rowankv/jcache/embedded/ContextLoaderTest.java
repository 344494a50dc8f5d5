package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.function.BiFunction;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Applications in a container come and go, each with its class loader, and share a store. */
@Tag("jvm")
final class ContextLoaderTest {
    @TempDir
    Path directory;

    /** A class of the application, which is on the stack while the store opens. */
    public static final class Opening implements BiFunction<URI, ClassLoader, CacheManager> {
        @Override
        public CacheManager apply(URI store, ClassLoader loader) {
            final CacheManager manager = Caching.getCachingProvider().getCacheManager(store, loader);
            use(manager);
            return manager;
        }
    }

    /** Has its own copy of that class. */
    private static final class ApplicationLoader extends URLClassLoader {
        ApplicationLoader() {
            super(new URL[] {locationOfTests()}, ContextLoaderTest.class.getClassLoader());
        }

        private static URL locationOfTests() {
            return ContextLoaderTest.class.getProtectionDomain().getCodeSource().getLocation();
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(ContextLoaderTest.class.getName())) {
                return super.loadClass(name, resolve);
            }
            final Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    private URI store() {
        return URI.create("rowan:embedded?capacity=16m&checkpoint-interval=1&dir=" + directory);
    }

    private static Cache<String, String> use(CacheManager manager) {
        final Cache<String, String> present = manager.getCache("c", String.class, String.class);
        final Cache<String, String> cache = present != null
                ? present
                : manager.createCache(
                        "c", new MutableConfiguration<String, String>().setTypes(String.class, String.class));
        cache.put("k", "v");
        return cache;
    }

    /** The first application opens the store, and with it all threads of the servers. */
    @SuppressWarnings("unchecked")
    private WeakReference<ClassLoader> openAndLeaveItToAnother(CacheManager[] staying) throws Exception {
        final Thread current = Thread.currentThread();
        final ClassLoader before = current.getContextClassLoader();
        final ClassLoader application = new ApplicationLoader();
        final CacheManager manager;
        current.setContextClassLoader(application);
        try {
            final Class<?> opening = application.loadClass(Opening.class.getName());
            assertThat(opening.getClassLoader()).isSameAs(application);
            manager = ((BiFunction<URI, ClassLoader, CacheManager>)
                            opening.getDeclaredConstructor().newInstance())
                    .apply(store(), application);
        } finally {
            current.setContextClassLoader(before);
        }
        staying[0] = Caching.getCachingProvider().getCacheManager(store(), null);
        use(staying[0]);
        manager.close();
        return new WeakReference<>(application);
    }

    @Test
    void shouldLetTheApplicationGoThatOpenedTheStore() throws Exception {
        final CacheManager[] staying = new CacheManager[1];
        final WeakReference<ClassLoader> application = openAndLeaveItToAnother(staying);
        try {
            assertThat(use(staying[0]).get("k")).isEqualTo("v");
            CollectedLoader.require(application);
        } finally {
            staying[0].close();
        }
    }
}
