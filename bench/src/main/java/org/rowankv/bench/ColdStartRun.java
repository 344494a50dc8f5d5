package org.rowankv.bench;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.ServerStatistics;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.embedded.Surroundings;

/** Fills a store, or opens one and says how long that took. A process of its own. */
public final class ColdStartRun {
    static final String FILL = "fill";
    static final String OPEN = "open";
    static final String OPENED = "opened ";

    /** As was measured of ZippyDB: keys of 47.9 bytes and values of 42.9. */
    static final double AVERAGE_BYTES = 90.8;

    private static final int SHORTEST_KEY = 40;
    private static final int KEY_LENGTHS = 17; // 40 to 56, 48 on average
    private static final int SHORTEST_VALUE = 20;
    private static final int VALUE_LENGTHS = 46; // 20 to 65, 42.5 on average
    /** Of log per object, with room for cleaning. */
    private static final long CAPACITY_PER_OBJECT = 260;

    private ColdStartRun() {}

    public static void main(String[] args) {
        final Path directory = Path.of(args[1]);
        final int objects = Integer.parseInt(args[2]);
        if (args[0].equals(FILL)) {
            fill(directory, objects);
        } else {
            open(directory, objects);
        }
    }

    private static EmbeddedSettings settings(Path directory, int objects) {
        return EmbeddedSettings.builder()
                .dir(directory)
                .capacityBytes(Math.max(256L << 20, (objects * CAPACITY_PER_OBJECT >> 22) + 1 << 22))
                .build();
    }

    private static byte[] key(int number) {
        final String digits = "object-" + number + "-";
        final byte[] key = new byte[SHORTEST_KEY + number % KEY_LENGTHS];
        Arrays.fill(key, (byte) 'k');
        System.arraycopy(digits.getBytes(StandardCharsets.ISO_8859_1), 0, key, 0, digits.length());
        return key;
    }

    private static void fill(Path directory, int objects) {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(directory, objects))) {
            final RowanClient client =
                    new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1));
            final int cacheId = client.catalogue().create("bench", new byte[0]).id();
            final Request request = new Request();
            for (int i = 0; i < objects; i++) {
                final byte[] key = key(i);
                final byte[] value = new byte[SHORTEST_VALUE + (int) ((i * 2654435761L >>> 16) % VALUE_LENGTHS)];
                client.execute(request.put(cacheId, key, 0, key.length, value, 0, value.length));
                if (request.status() != Status.OK) {
                    throw new IllegalStateException("put answered " + request.status());
                }
                if ((i + 1) % 1_000_000 == 0) {
                    System.err.println("coldstart: " + (i + 1) + " objects");
                }
            }
            client.close();
        }
    }

    private static void open(Path directory, int objects) {
        final EmbeddedSettings settings = settings(directory, objects);
        final Surroundings machine = Surroundings.machine();
        final long startNs = System.nanoTime();
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings, machine)) {
            final long tookNs = System.nanoTime() - startNs;
            long bytes = 0;
            long indexed = 0;
            for (ServerStatistics server : cluster.statistics()) {
                bytes += server.indexBytes();
                indexed += server.indexEntries();
            }
            System.out.println(OPENED + tookNs + " " + indexed + " "
                    + cluster.checkpoints().objects() + " " + (double) bytes / indexed + " " + machine.scanThreads());
        }
    }
}
