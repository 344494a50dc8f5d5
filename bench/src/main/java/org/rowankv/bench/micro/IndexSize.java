package org.rowankv.bench.micro;

import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.ServerStatistics;

/** Program that loads a store with one replica and prints its index bytes per entry. Runs in its own process. */
public final class IndexSize {
    static final String PREFIX = "index bytes per entry: ";

    private IndexSize() {}

    public static void main(String[] args) {
        final int entries = Integer.parseInt(args[0]);
        try (EmbeddedCluster cluster = EmbeddedBenchmark.open(1, entries)) {
            final RowanClient client =
                    new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1));
            final int cacheId = client.catalogue().create("bench", new byte[0]).id();
            EmbeddedBenchmark.load(client, cacheId, entries);
            long bytes = 0;
            long indexed = 0;
            for (ServerStatistics server : cluster.statistics()) {
                bytes += server.indexBytes();
                indexed += server.indexEntries();
            }
            if (indexed != entries) {
                throw new IllegalStateException("the index holds " + indexed + " entries, not " + entries);
            }
            System.out.println(PREFIX + (double) bytes / indexed);
            client.close();
        }
    }
}
