package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;

/**
 * A server without file descriptors stops accepting, logs it once, serves open connections, and resumes when
 * descriptors are free.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "limits the descriptors of a process by ulimit")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("jvm")
final class ExhaustedDescriptorsTest {
    private static final int DESCRIPTORS = 200;

    private Process process;
    private BufferedReader out;
    private Writer in;
    private int port;
    /** Its output except for answers: the log. */
    private final List<String> log = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        final String java =
                Path.of(System.getProperty("java.home"), "bin", "java").toString();
        process = new ProcessBuilder(
                        "bash",
                        "-c",
                        "ulimit -n " + DESCRIPTORS + " && exec \"$0\" -cp \"$1\" \"$2\"",
                        java,
                        System.getProperty("java.class.path"),
                        FewDescriptors.class.getName())
                .redirectErrorStream(true)
                .start();
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        in = process.outputWriter(StandardCharsets.UTF_8);
        port = Integer.parseInt(answer("PORT ").substring("PORT ".length()));
    }

    @AfterEach
    void stop() throws Exception {
        process.destroyForcibly();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        in.close();
        out.close();
    }

    private String answer(String begin) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(begin)) {
                return line;
            }
            log.add(line);
        }
        throw new AssertionError("the process has ended: " + String.join("\n", log));
    }

    /** Pauses, connections, errors. */
    private long[] asked() {
        try {
            in.write("tell\n");
            in.flush();
            final String[] words = answer("PAUSES ").split(" ");
            return new long[] {Long.parseLong(words[1]), Long.parseLong(words[3]), Long.parseLong(words[5])};
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private RowanClient client() {
        return RowanClient.connect(List.of("127.0.0.1:" + port), NetSettings.DEFAULT.withConnections(1, 64));
    }

    private long logged(String text) {
        return log.stream().filter(line -> line.contains(text)).count();
    }

    @Test
    void shouldServeWhoIsThereAndTakeOthersWhenItCanAgain() throws IOException {
        final List<Socket> sockets = new ArrayList<>();
        try (RowanClient client = client()) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            client.put(cache, bytes("k"), bytes("before"));
            for (int i = 0; i < 100; i++) {
                // Classes are loaded from a directory, each with its own descriptor.
                client.put(cache, bytes("k" + i), bytes("before"));
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(bytes("before"));
            }
            for (int i = 0; i < 2 * DESCRIPTORS; i++) {
                sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> asked()[0] >= 3);
            assertThat(asked()[1]).isLessThan(DESCRIPTORS);
            for (int i = 0; i < 100; i++) {
                client.put(cache, bytes("k" + i), bytes("meanwhile"));
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(bytes("meanwhile"));
            }
            for (Socket socket : sockets) {
                socket.close();
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> asked()[1] == 1);
            try (RowanClient other = client()) {
                assertThat(other.get(cache, bytes("k"))).isEqualTo(bytes("before"));
            }
        }
        assertThat(asked()[2]).isZero();
        assertThat(logged("Client port accept paused"))
                .as(String.join("\n", log))
                .isEqualTo(1);
        assertThat(logged("Client port accept resumed"))
                .as(String.join("\n", log))
                .isPositive();
    }
}
