package org.rowankv.bench.store;

import java.nio.file.Path;
import java.util.Locale;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/** Program that fills a store, and prints the memory this adds to the JVM. Runs in its own process. */
public final class MemoryRun {
    static final String MEASURED = "measured ";
    static final String GREW = "grew ";

    private static final int FEW = 1_000;
    private static final int GROWTHS = 6;
    /** One in this many objects is written again while checkpoints are taken. */
    private static final int OVERWRITTEN_ONE_IN = 5;

    private static final int CHECKPOINTS = 2;
    private static final long CHECKPOINT_INTERVAL_MS = 2_000;

    private MemoryRun() {}

    public static void main(String[] args) {
        final Path directory = Path.of(args[0]);
        final int objects = Integer.parseInt(args[1]);
        // Loads everything that exists once, whatever the number of objects: classes, internals of the JDK.
        run(directory.resolve("few"), FEW, false);
        run(directory.resolve("store"), objects, true);
    }

    private static void run(Path directory, int objects, boolean printed) {
        final HeapContent before = HeapContent.now();
        try (EmbeddedCluster cluster =
                        EmbeddedCluster.open(EmbeddedSettings.of(ZippyObjects.settings(directory, objects)
                                .andThen(with -> with.checkpointIntervalMs = CHECKPOINT_INTERVAL_MS)));
                RowanClient client =
                        new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1))) {
            final ZippyObjects all = new ZippyObjects(client);
            all.fill(objects, "memory");
            if (printed) {
                System.err.println("memory: overwriting");
            }
            // Lets segments be cleaned, entries die, and checkpoints cover the changes.
            final long enough = cluster.checkpoints().taken() + CHECKPOINTS;
            for (int i = 0;
                    i < objects / OVERWRITTEN_ONE_IN || cluster.checkpoints().taken() < enough;
                    i++) {
                all.put((int) (i * 2654435761L % objects));
            }
            final HeapContent after = HeapContent.now();
            if (printed) {
                tell(cluster, before, after);
            }
        }
    }

    private static void tell(EmbeddedCluster cluster, HeapContent before, HeapContent after) {
        long indexed = 0;
        long indexBytes = 0;
        long cleaned = 0;
        for (ServerStatistics server : cluster.statistics()) {
            indexed += server.indexEntries();
            indexBytes += server.indexBytes();
            cleaned += server.cleanedSegments();
        }
        after.largestGrowth(before, GROWTHS).forEach((name, bytes) -> System.out.println(GREW + bytes + " " + name));
        System.out.println(String.format(
                Locale.ROOT,
                "%s%d %d %d %d %d %d %d",
                MEASURED,
                indexed,
                after.heapBytes() - before.heapBytes(),
                after.primitiveArrayBytes() - before.primitiveArrayBytes(),
                after.directBytes() - before.directBytes(),
                indexBytes,
                cleaned,
                cluster.checkpoints().taken()));
    }
}
