package org.rowankv.samples.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.daemon.local.LocalPorts;

/** The shop, small; {@code ./rowan demo hibernate} is larger. */
final class ShopRunTest {
    @TempDir
    Path directory;

    private String file(String name, String settings) throws IOException {
        return Files.writeString(directory.resolve(name), settings).toUri().toString();
    }

    private static void requireRight(ShopRun run) {
        System.out.println(run.cacheLine());
        System.out.println(run);
        assertThat(run.hits()).as("reads from the cache").isGreaterThan(run.operations() / 4);
        assertThat(run).hasToString("hibernate: operations=" + run.operations() + " failures=0 stale=0");
    }

    @Test
    void shouldReadWhatIsInTheDatabaseWithAStoreInThisJvm() throws Exception {
        final String uri = file("shop.properties", """
                dir = %s
                capacity = 64m
                template.*.create = true
                template.*.content = fresh
                """.formatted(directory.resolve("store")));
        final ShopRun run = new ShopRun();
        run.work("embedded1", uri, 3_000);
        run.work("embedded2", uri, 1_000);

        requireRight(run);
    }

    /** What a cluster has outlives its clients: another generation begins empty. */
    @Test
    void shouldReadWhatIsInTheDatabaseWithThreeProcesses() throws Exception {
        final LocalCluster cluster = LocalCluster.openOrMake(
                        directory.resolve("cluster"), new LocalCluster.Shape(3, 2, "64m", LocalPorts.free(10)))
                .launchedBy(Launch.DEFAULT.endingWithParent());
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            final ShopRun run = new ShopRun();
            run.work("cluster1", remote(cluster, "one"), 1_500);
            run.work("cluster2", remote(cluster, "two"), 500);

            requireRight(run);
        } finally {
            assertThat(cluster.stop()).isEmpty();
        }
    }

    private String remote(LocalCluster cluster, String generation) throws IOException {
        return file(generation + ".properties", """
                uri = rowan://%s;%s;%s/
                template.*.create = true
                template.*.generation = %s
                """.formatted(
                        cluster.clientsOf(0), cluster.clientsOf(1), cluster.clientsOf(2), generation));
    }
}
