package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** What an application is warned of when it opens caches, and of what it is not. In a JVM of its own, for its log. */
@Timeout(120)
final class WarningsTest {
    @TempDir
    private Path dir;

    /** In the other JVM: opens two caches without types, and one with. */
    public static void main(String[] arguments) {
        try (RowanCachingProvider provider = new RowanCachingProvider();
                CacheManager manager = provider.getCacheManager(URI.create(arguments[0]), null)) {
            manager.createCache("anything", new MutableConfiguration<>());
            manager.createCache("more", new MutableConfiguration<>());
            manager.createCache(
                    "strings", new MutableConfiguration<String, String>().setTypes(String.class, String.class));
        }
    }

    private static List<String> warnings(String uri) throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        WarningsTest.class.getName(),
                        uri)
                .redirectErrorStream(true)
                .start();
        final List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(process.waitFor()).as("%s", lines).isZero();
        return lines.stream().filter(line -> line.contains("ROWAN-")).toList();
    }

    @Test
    void shouldWarnOfARemoteCacheThatMayStoreNoClassOfTheApplication() throws Exception {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> with.servers = 1));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0))) {
            final String uri = "rowan://" + ports.addresses().get(0) + "/";
            assertThat(warnings(uri))
                    .singleElement()
                    .asString()
                    .contains("ROWAN-1112")
                    .contains("rowan.allowed-classes=your.package.**")
                    .contains("cache=anything");
            assertThat(warnings(uri + "?allowed-classes=@jdk")).isEmpty();
        }
    }

    @Test
    void shouldWarnOfFilesThatOtherUsersMayRead() throws Exception {
        assumeThat(dir.getFileSystem().supportedFileAttributeViews()).contains("posix");
        final Path store = dir.resolve("store");
        final String uri = "rowan:embedded?capacity=16m&dir=" + store;
        assertThat(warnings(uri)).isEmpty();
        try (Stream<Path> files = Files.list(store)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            }
        }
        assertThat(warnings(uri)).as("others cannot enter the directory").isEmpty();
        Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(warnings(uri))
                .singleElement()
                .asString()
                .contains("ROWAN-2017")
                .contains("chmod -R go= " + store.toRealPath());
    }
}
