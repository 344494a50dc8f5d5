package org.rowankv.bench.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterContext;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.configstore.FileConfigurationStore;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.topology.Configuration;

/**
 * Program that fills the store of a cluster's only server, or starts that server and prints the time. Runs in its own
 * process, which ends like a killed one: nothing is closed.
 */
public final class ServerStartRun {
    /** Its directory. */
    static final String SERVER = "server";

    private static final int CACHE = 1;
    private static final int SEGMENT = 1 << 20;
    private static final int MAX_MESSAGE = 16 << 10;
    private static final long WHILE_FILLING_MS = 500;
    private static final long NEVER_MS = 3_600_000;
    private static final long LOOK_NS = 5_000_000;
    /** Several intervals. */
    private static final long SETTLED_NS = 5_000_000_000L;

    private ServerStartRun() {}

    public static void main(String[] args) throws IOException {
        final Path directory = Path.of(args[1]);
        final int objects = Integer.parseInt(args[2]);
        if (args[0].equals(ColdStartRun.FILL)) {
            fill(directory, objects);
        } else {
            open(directory, objects);
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void fill(Path directory, int objects) throws IOException {
        final ClusterServer server = started(directory, objects, WHILE_FILLING_MS);
        new ZippyObjects(
                        new RowanClient(
                                new Local(server, Objects.requireNonNull(server.server())),
                                SystemClock.INSTANCE,
                                new SplittableRandomSource(1)),
                        CACHE)
                .fill(objects, "coldstart");
        // No more rounds follow when the images of all shards are as the indexes are.
        List<String> before = List.of();
        long sinceNs = System.nanoTime();
        while (before.isEmpty() || System.nanoTime() - sinceNs < SETTLED_NS) {
            LockSupport.parkNanos(LOOK_NS);
            final List<String> now = checkpoints(directory);
            if (!now.equals(before)) {
                before = now;
                sinceNs = System.nanoTime();
            }
        }
    }

    private static List<String> checkpoints(Path directory) throws IOException {
        final Path checkpoints = directory.resolve(SERVER).resolve("checkpoint-0");
        if (!Files.isDirectory(checkpoints)) {
            return List.of();
        }
        final List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(checkpoints)) {
            files.sorted()
                    .forEach(file ->
                            found.add(file.getFileName() + " " + file.toFile().lastModified()));
        }
        return found;
    }

    private static void open(Path directory, int objects) throws IOException {
        final long startNs = System.nanoTime();
        final ClusterServer server = started(directory, objects, NEVER_MS);
        final long tookNs = System.nanoTime() - startNs;
        final ServerStatistics statistics =
                Objects.requireNonNull(server.server()).statistics();
        final long loaded = Objects.requireNonNull(server.checkpoints()).objects();
        System.out.println(ColdStartRun.OPENED + tookNs + " " + statistics.indexEntries() + " " + loaded + " "
                + (double) statistics.indexBytes() / statistics.indexEntries() + " " + threads());
    }

    private static int threads() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    }

    private static ClusterServer started(Path directory, int objects, long checkpointMs) {
        final ServerAddresses addresses = new ServerAddresses();
        final Path home = directory.resolve(SERVER);
        final ClusterServer server = new ClusterServer(
                ClusterSettings.of(with -> {
                    with.cluster = "bench";
                    with.name = "a";
                    with.dir = home;
                    with.advertised = new HostAndPort("127.0.0.1", 1);
                    with.shape = new ClusterShape(
                            1, 1, ClusterSettings.DEFAULT_SHARDS_PER_SERVER, SEGMENT, MAX_MESSAGE, Durability.PROCESS);
                    with.capacityBytes = ZippyObjects.capacity(objects);
                    with.workers = 2;
                    with.checkpointIntervalMs = checkpointMs;
                }),
                new ClusterContext(
                        new FileConfigurationStore(directory.resolve("configuration")),
                        new LocalFabric(), // there is no other server
                        addresses,
                        SystemClock.INSTANCE,
                        new SplittableRandomSource(System.nanoTime()),
                        ThreadScheduling.INSTANCE,
                        new ErrorLog(SystemClock.INSTANCE),
                        threads(),
                        ClientEndpoint.NONE,
                        ServerDirectory::open,
                        number -> new CheckpointFiles(home.resolve("checkpoint-" + number)),
                        usual -> {}));
        server.start();
        while (server.server() == null) {
            if (server.failure() != null) {
                throw new IllegalStateException(server.failure());
            }
            LockSupport.parkNanos(LOOK_NS);
        }
        return server;
    }

    /** Calls a server of this process. */
    private record Local(ClusterServer cluster, Server server) implements Session {
        @Override
        public Configuration configuration() {
            return Objects.requireNonNull(cluster.inForce());
        }

        @Override
        public boolean needsRequestIds() {
            return true;
        }

        @Override
        public void call(Request request) {
            server.requests().call(request);
        }

        @Override
        public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Catalogue catalogue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            // It ends with its process.
        }
    }
}
