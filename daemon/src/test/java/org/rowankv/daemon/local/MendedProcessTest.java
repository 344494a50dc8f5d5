package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;

/**
 * Bits that flip in the file of a running server process are found, and the entries are taken from the other processes:
 * what the file holds is what the process maps.
 */
class MendedProcessTest {
    private static final int SERVERS = 3;
    private static final int DAMAGED_SERVER = 1;
    private static final int KEYS = 1000;
    private static final int DAMAGED_KEYS = 30;
    private static final int LENGTH = 4000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @TempDir
    Path dir;

    private LocalCluster cluster;
    private int cache;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int number) {
        return bytes((mark(number) + "-".repeat(LENGTH)).substring(0, LENGTH));
    }

    private static String mark(int number) {
        return "<mended " + number + ">";
    }

    /** A read of a damaged entry waits until another replica has replaced it. */
    private void requireAll(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(cache, bytes("key" + i))).as("key " + i).isEqualTo(value(i));
        }
    }

    private Path areaOf(int server) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(cluster.dataOf(server), "area-*")) {
            return files.iterator().next();
        }
    }

    /** Changes one byte of each of some values, wherever the server's log holds them; returns how many. */
    private int flipBits() throws IOException {
        try (FileChannel file =
                FileChannel.open(areaOf(DAMAGED_SERVER), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final ByteBuffer content = ByteBuffer.allocate((int) file.size());
            while (content.hasRemaining() && file.read(content) >= 0) {}
            final String text = new String(content.array(), StandardCharsets.ISO_8859_1);
            final List<Integer> places = new ArrayList<>();
            for (int i = 0; i < DAMAGED_KEYS; i++) {
                for (int at = text.indexOf(mark(i)); at >= 0; at = text.indexOf(mark(i), at + 1)) {
                    places.add(at + LENGTH / 2);
                }
            }
            for (int at : places) {
                file.write(ByteBuffer.wrap(new byte[] {(byte) ('-' ^ 4)}), at);
            }
            return places.size();
        }
    }

    private int metric(String name) throws IOException {
        final Matcher found = Pattern.compile("(?m)^" + name + "_total(?:\\{[^}]*})? (\\d+)")
                .matcher(cluster.metricsOf(DAMAGED_SERVER));
        assertThat(found.find()).as(name).isTrue();
        return Integer.parseInt(found.group(1));
    }

    @Test
    void shouldMendWhatFlipsInTheFileOfARunningServer() throws Exception {
        cluster = LocalCluster.openOrMake(
                        dir, new LocalCluster.Shape(SERVERS, 2, "32m", LocalPorts.free(3 * SERVERS + 1)))
                .launchedBy(Launch.DEFAULT.withServerOptions(
                        "--verify-reads=true", "--scrub-rate=64", "--segment=64k", "--lease=4000"));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            try (RowanClient client = RowanClient.connect(
                    List.of(
                            cluster.clientsOf(0).toString(),
                            cluster.clientsOf(2).toString()),
                    NetSettings.DEFAULT.withSpinNs(0))) {
                cache = client.catalogue().create("cache", new byte[0]).id();
                for (int i = 0; i < KEYS; i++) {
                    client.put(cache, bytes("key" + i), value(i));
                }
                requireAll(client);

                final int flipped = flipBits();
                assertThat(flipped).as("entries of the server").isPositive();
                await().atMost(PATIENCE).untilAsserted(() -> {
                    requireAll(client);
                    assertThat(metric("rowan_entries_replaced")).isEqualTo(flipped);
                });

                requireAll(client);
                assertThat(metric("rowan_entries_lost")).isZero();
            }
        } finally {
            cluster.stop();
        }
    }
}
