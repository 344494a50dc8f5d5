package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import picocli.CommandLine;

/** A cluster whose servers are restarted while a client writes and reads. */
class RestartCommandTest {
    @TempDir
    Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return new CommandLine(new RestartCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
    }

    @Test
    void shouldRestartOneServerAfterTheOtherUnderLoad() throws Exception {
        final LocalCluster cluster =
                LocalCluster.openOrMake(dir, new LocalCluster.Shape(3, 2, "32m", LocalPorts.free(10)));
        cluster.launchedBy(
                Launch.DEFAULT.withJvmOptions("-Drowan.test.mark=kept").withServerOptions("--lease=4000"));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            final AtomicBoolean over = new AtomicBoolean();
            final AtomicLong written = new AtomicLong();
            final AtomicReference<RuntimeException> failed = new AtomicReference<>();
            try (RowanClient client = RowanClient.connect(
                    List.of(
                            cluster.clientsOf(0).toString(),
                            cluster.clientsOf(1).toString()),
                    NetSettings.DEFAULT.withSpinNs(0))) {
                final int cache =
                        client.catalogue().create("cache", new byte[0]).id();
                final Thread caller = new Thread(() -> call(client, cache, over, written, failed));
                caller.start();
                assertThat(run("--rolling", "--dir", dir.toString()))
                        .as(err.toString())
                        .isZero();
                over.set(true);
                caller.join();
                assertThat(failed.get()).isNull();
                for (int number = 0; number < Math.min(written.get(), KEYS); number++) {
                    assertThat(client.get(cache, bytes(number))).isNotNull();
                }
            }
            assertThat(out.toString().lines().toList())
                    .contains("server-1 stopped", "server-2 stopped", "server-3 stopped")
                    .last()
                    .asString()
                    .matches("restart: servers=3 seconds=[0-9]+");
            for (int server = 0; server < 3; server++) {
                assertThat(cluster.logOf(server)).content().contains("roles=handed over");
                final ProcessHandle process = cluster.serverProcess(server).orElseThrow();
                assertThat(process.info().arguments().orElseThrow())
                        .as("of the restarted process")
                        .contains("-Drowan.test.mark=kept", "--lease=4000");
            }
        } finally {
            assertThat(cluster.stop()).isEmpty();
        }
    }

    private static final int KEYS = 500;

    private static void call(
            RowanClient client,
            int cache,
            AtomicBoolean over,
            AtomicLong written,
            AtomicReference<RuntimeException> failed) {
        try {
            while (!over.get()) {
                final long number = written.get();
                final byte[] key = bytes((int) (number % KEYS));
                client.put(cache, key, bytes((int) number));
                assertThat(client.get(cache, key)).isEqualTo(bytes((int) number));
                written.incrementAndGet();
            }
        } catch (RuntimeException e) {
            failed.set(e);
        }
    }

    private static byte[] bytes(int number) {
        return Integer.toString(number).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldStopNothingInAClusterThatIsNotWhole() throws Exception {
        final LocalCluster cluster =
                LocalCluster.openOrMake(dir, new LocalCluster.Shape(2, 2, "32m", LocalPorts.free(7)));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            assertThat(cluster.stopServer(1)).isTrue();
            assertThat(run("--rolling", "--dir", dir.toString())).isEqualTo(1);
            assertThat(err.toString()).contains("is not whole").contains("server-2 down");
            assertThat(cluster.serverProcess(0)).isPresent();
        } finally {
            assertThat(cluster.stop()).isEmpty();
        }
    }

    @Test
    void shouldSayWhatIsMissing() {
        assertThat(run("--dir", dir.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("--rolling");
        assertThat(run("--rolling", "--dir", dir.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("there is no cluster in");
    }
}
