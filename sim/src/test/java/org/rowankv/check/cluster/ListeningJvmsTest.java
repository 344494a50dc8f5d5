package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.junit.jupiter.api.Test;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.TestJvm;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.PrimaryTransfer;

/** Two client JVMs with listeners, and server processes whose primaries are transferred. */
final class ListeningJvmsTest {
    /** Handle of the other client. */
    private static final class Other implements AutoCloseable {
        private final Process process;
        private final PrintWriter orders;
        private final List<String> lines = new CopyOnWriteArrayList<>();

        Other(String uri) throws IOException {
            process = new ProcessBuilder(TestJvm.command(
                            "-ea",
                            "-Xmx128m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            ListeningJvm.class.getName(),
                            uri))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            orders = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
            final Thread reader = new Thread(this::read, "other-jvm");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader in =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    lines.add(line);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void awaitLine(String line) {
            await().atMost(HeardEvents.PATIENCE).until(() -> {
                assertThat(process.isAlive()).as(() -> String.join("\n", lines)).isTrue();
                return lines.contains(line);
            });
        }

        int count(String line) {
            return Collections.frequency(lines, line);
        }

        @Override
        public void close() throws IOException {
            orders.close(); // it exits at the end of its input
            try {
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                process.destroyForcibly();
            }
            assertThat(process.exitValue()).isZero();
        }
    }

    @Test
    void shouldHearAcrossJvmsAndHandOvers() throws IOException {
        try (TemporaryCluster servers = TemporaryCluster.start(
                        "listeners",
                        2,
                        2,
                        "32m",
                        Launch.DEFAULT.withJvmOptions("-Xmx192m").withServerOptions("--lease=4000"));
                CacheManager manager = ListeningJvm.manager(servers.uri())) {
            final Cache<String, Long> cache = ListeningJvm.cache(manager);
            final HeardEvents heard = new HeardEvents();
            cache.registerCacheEntryListener(heard.configuration(false, true));
            try (Other other = new Other(servers.uri())) {
                other.awaitLine("READY");
                cache.put("a", 1L);
                other.awaitLine("HEARD CREATED a=1");
                other.orders.println("a 2");
                other.awaitLine("PUT a");
                assertThat(other.lines).contains("HEARD UPDATED a=2"); // its own listener was called before
                await().atMost(HeardEvents.PATIENCE).until(() -> heard.texts().contains("UPDATED a=2"));
                assertThat(heard.texts()).containsExactly("CREATED a=1", "UPDATED a=2");

                try (ConfigurationStore store = servers.cluster().connect()) {
                    new PrimaryTransfer(
                                    store,
                                    "listeners",
                                    new SplittableRandomSource(3),
                                    SystemClock.INSTANCE,
                                    ThreadScheduling.INSTANCE::park)
                            .transfer(0, -1);
                }
                for (long i = 0; i < 50; i++) {
                    final String key = "k" + i;
                    cache.put(key, i);
                    other.orders.println("l" + i + " " + i);
                }
                for (int i = 0; i < 50; i++) {
                    other.awaitLine("PUT l" + i);
                }
                for (int i = 0; i < 50; i++) {
                    other.awaitLine("HEARD CREATED k" + i + "=" + i);
                    final String ofOther = "CREATED l" + i + "=" + i;
                    await().atMost(HeardEvents.PATIENCE)
                            .until(() -> heard.texts().contains(ofOther));
                }
                for (int i = 0; i < 50; i++) {
                    assertThat(other.count("HEARD CREATED k" + i + "=" + i)).isEqualTo(1);
                    assertThat(other.count("HEARD CREATED l" + i + "=" + i)).isEqualTo(1);
                }
                assertThat(heard.versions()).doesNotHaveDuplicates();
                assertThat(heard.losses()).isZero();
                assertThat(other.count("LOST")).isZero();
            }
        }
    }
}
