package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** An application with provider and driver on its class path, without the servers, their fabric or Netty. */
@Timeout(120)
@Tag("jvm")
final class ThinClientTest {
    /** The class path of such an application: these modules, and the output of {@code ./rowan classpath client}. */
    private static final Pattern NEEDED = Pattern.compile(
            ".*[/\\\\]((runtime|protocol|driver|jcache-provider)[/\\\\]target"
                    + "[/\\\\](quick[/\\\\])?classes|rowan-(runtime|protocol|driver|jcache)-[^/\\\\]*(?<!tests)\\.jar|(cache-api|slf4j-api)-[^/\\\\]*\\.jar)");

    @Test
    void shouldUseAClusterWithoutServerFabricAndNetty() throws IOException, InterruptedException {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 2;
            with.replicas = 2;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0))) {
            final List<String> printed = run("rowan://" + String.join(",", ports.addresses()));

            assertThat(printed).anyMatch("value 42"::equals);
            assertThat(printed).anyMatch(line -> line.startsWith("refused: ") && line.contains("rowan-server"));
        }
    }

    private static List<String> run(String uri) throws IOException, InterruptedException {
        final List<String> needed = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> NEEDED.matcher(entry).matches())
                .toList();
        assertThat(needed).as("four modules and two libraries").hasSize(6);
        final Path own = Path.of(ThinApplication.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        String.join(File.pathSeparator, needed) + File.pathSeparator + own,
                        ThinApplication.class.getName(),
                        uri)
                .redirectErrorStream(true)
                .start();
        final List<String> printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(process.waitFor()).as("%s", printed).isZero();
        return printed;
    }
}
