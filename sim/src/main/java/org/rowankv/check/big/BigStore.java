package org.rowankv.check.big;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.check.cluster.ClusterReplicas;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.directory.ClosedServer;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.ServerInspection;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.topology.Configuration;

/** The store under the check, seen from the process that kills. For one thread. */
interface BigStore extends AutoCloseable {
    /** First arguments of a child: what it works on. */
    List<String> target();

    /** A disturbance while the child works, besides its kill. */
    void disturb(RandomSource random) throws IOException, InterruptedException;

    /** Values whose parts are in its files and which are not; the store is closed meanwhile. */
    long orphans() throws IOException;

    @Override
    void close() throws IOException;

    /** A store inside the child. */
    record Embedded(Path dir) implements BigStore {
        @Override
        public List<String> target() {
            return List.of("dir", dir.toString());
        }

        @Override
        public void disturb(RandomSource random) {
            // The kill of the child ends the server too.
        }

        @Override
        public long orphans() {
            try (ClosedStore closed = ClosedStore.open(dir)) {
                return StoreInspection.of(closed).contents().servers().stream()
                        .mapToLong(ServerContents::orphans)
                        .sum();
            }
        }

        @Override
        public void close() {
            // The caller removes the directory.
        }
    }

    /** Processes: one of them is killed, and started again. */
    record Processes(TemporaryCluster cluster) implements BigStore {
        private static final int SERVERS = 3;
        private static final int REPLICAS = 2;
        private static final long WHOLE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

        static Processes start(long capacity) throws IOException {
            return new Processes(
                    TemporaryCluster.start("big", SERVERS, REPLICAS, Long.toString(capacity), Launch.DEFAULT));
        }

        @Override
        public List<String> target() {
            return List.of("cluster", String.join(",", cluster.addresses()));
        }

        @Override
        public void disturb(RandomSource random) throws IOException, InterruptedException {
            final int server = random.nextInt(SERVERS);
            final ProcessHandle process = cluster.cluster()
                    .serverProcess(server)
                    .orElseThrow(() -> new IOException("server " + server + " is gone"));
            process.destroyForcibly();
            process.onExit().join();
            cluster.cluster().startServer(server);
            cluster.awaitServing();
        }

        /**
         * After a start of all: what has no value then is removed before anything else. In a copy that is under way parts
         * come before their values, so all replicas have to be complete. What a server had of shards that others hold now
         * does not count.
         */
        @Override
        public long orphans() throws IOException {
            try (ClusterWatch watch = new ClusterWatch(cluster.cluster())) {
                final String lack = watch.awaitWhole(WHOLE_TIMEOUT_NS, 0, line -> {}, () -> {});
                if (!lack.isEmpty()) {
                    throw new IOException("the cluster does not become whole: " + lack);
                }
            }
            cluster.stopServers();
            final Configuration last = ClusterReplicas.configuration(cluster);
            long orphans = 0;
            for (int server = 0; server < SERVERS; server++) {
                try (ClosedServer closed = ClosedServer.open(cluster.cluster().dataOf(server))) {
                    orphans += ServerInspection.of(closed, last).contents().servers().stream()
                            .mapToLong(ServerContents::orphans)
                            .sum();
                }
            }
            cluster.startServers();
            return orphans;
        }

        @Override
        public void close() throws IOException {
            cluster.close();
        }
    }
}
