package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** An opening is one line, which says what was opened. In a JVM of its own, since the level of tests hides it. */
final class StoreLogTest {
    @TempDir
    Path dir;

    @Test
    void shouldLogOneLineForEachOpening() throws Exception {
        final List<String> lines = linesOfTwoOpenings();

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).contains(" objects=0 ", " durability=process ");
        assertThat(lines.get(1))
                .contains("Store open dir=" + dir.toRealPath() + " servers=1 replicas=1 ", " objects=24 ")
                .containsPattern(" ms=\\d+$");
    }

    private List<String> linesOfTwoOpenings() throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        StoreLogTest.class.getName(),
                        dir.toString())
                .redirectErrorStream(true)
                .start();
        final String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text.lines()
                .filter(line -> line.toLowerCase(java.util.Locale.ROOT).contains("store"))
                .toList();
    }

    /** Opens the store of a directory twice: with nothing in it, and with what is left of thirty objects, some removed and put again. */
    public static void main(String[] arguments) {
        final URI uri = URI.create("rowan:embedded?capacity=64m&dir=" + arguments[0]);
        for (int opening = 0; opening < 2; opening++) {
            try (RowanCachingProvider provider = new RowanCachingProvider();
                    CacheManager manager = provider.getCacheManager(uri, null);
                    CacheManager other = provider.getCacheManager(uri, new ClassLoader() {})) {
                if (opening == 0) {
                    fill(manager.createCache(
                            "c", new MutableConfiguration<String, String>().setTypes(String.class, String.class)));
                }
                other.getCacheNames();
            }
        }
    }

    private static void fill(Cache<String, String> cache) {
        for (int i = 0; i < 30; i++) {
            cache.put("key" + i, "value");
        }
        for (int i = 0; i < 10; i++) {
            cache.remove("key" + i);
        }
        for (int i = 0; i < 4; i++) {
            cache.put("key" + i, "again");
        }
    }
}
