package org.rowankv.bench.store;

import java.nio.file.Path;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/** Program that fills a store, or opens one and prints the time. Runs in its own process. */
public final class ColdStartRun {
    static final String FILL = "fill";
    static final String OPEN = "open";
    static final String OPENED = "opened ";

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

    private static void fill(Path directory, int objects) {
        try (EmbeddedCluster cluster =
                        EmbeddedCluster.open(EmbeddedSettings.of(ZippyObjects.settings(directory, objects)));
                RowanClient client =
                        new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1))) {
            new ZippyObjects(client).fill(objects, "coldstart");
        }
    }

    private static void open(Path directory, int objects) {
        final EmbeddedSettings settings = EmbeddedSettings.of(ZippyObjects.settings(directory, objects));
        final EmbeddedContext machine = EmbeddedContext.machine();
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
