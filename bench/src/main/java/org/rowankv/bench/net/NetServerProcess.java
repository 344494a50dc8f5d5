package org.rowankv.bench.net;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/**
 * The server process of {@code bench net}: either servers with client ports, or the same ports with an echo server.
 * Prints its addresses, and exits when its input ends.
 */
public final class NetServerProcess {
    static final String READY = "ready ";
    private static final int ECHO_SHARDS = 16;
    private static final long CAPACITY = 256L << 20;

    private NetServerProcess() {}

    /** Arguments: {@code echo} or {@code store}; servers, each with a replica of everything; spin in ns. */
    public static void main(String[] args) throws IOException {
        final int servers = Integer.parseInt(args[1]);
        final ClientPortSettings settings =
                ClientPortSettings.at("127.0.0.1", 0, with -> with.spinNs = Long.parseLong(args[2]));
        if ("echo".equals(args[0])) {
            final ClientPort port = echo(settings);
            awaitEnd(List.of("127.0.0.1:" + port.address().getPort()));
            port.close();
            return;
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = servers;
                    with.replicas = servers;
                    with.capacityBytes = CAPACITY;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, settings)) {
            awaitEnd(ports.addresses());
        }
    }

    private static void awaitEnd(List<String> addresses) throws IOException {
        System.out.println(READY + String.join(",", addresses));
        System.out.flush();
        while (System.in.read() >= 0) {
            // Until the parent process has closed the input.
        }
    }

    private static ClientPort echo(ClientPortSettings settings) throws IOException {
        final ClientPort port = ClientPort.bind(
                new Echo(), new OneCache(), settings, SystemClock.INSTANCE, new ErrorLog(SystemClock.INSTANCE));
        return port.serve(new Routing(
                Configuration.initial(1, 1, 1, 1, ECHO_SHARDS, List.of(1L)),
                List.of("127.0.0.1:" + port.address().getPort())));
    }

    /** Replies at once: to a read with a value of the fixed length, to a write with a version. */
    private static final class Echo implements RequestBackend {
        private record EchoCall(Request request) implements PollableCall {
            @Override
            public void again() {
                // Stateless.
            }

            @Override
            public boolean step() {
                request.noResult();
                if (request.needsValue()) {
                    request.resultOf(KeySpace.VALUE_LENGTH);
                }
                request.answer(Status.OK, 0, 1, 0);
                return true;
            }

            @Override
            public boolean awaitsWorker() {
                return false;
            }
        }

        @Override
        public int serverId() {
            return 0;
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            return EchoCall::new;
        }

        @Override
        public boolean isPrimary(int shard) {
            return true;
        }

        @Override
        public boolean isServing() {
            return true;
        }

        @Override
        public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
            return 0;
        }
    }

    private static final class OneCache implements ClientCatalogue {
        private static final StoredCache CACHE = new StoredCache(1, "bench", new byte[0], CacheLimit.NONE);

        @Override
        public @Nullable StoredCache find(String name) {
            return CACHE;
        }

        @Override
        public StoredCache create(String name, byte[] descriptor) {
            return CACHE;
        }

        @Override
        public boolean limit(String name, CacheLimit limit) {
            return false;
        }

        @Override
        public long evictions(int cacheId) {
            return 0;
        }

        @Override
        public long objects(int cacheId) {
            return 0;
        }

        @Override
        public long bytes(int cacheId) {
            return 0;
        }

        @Override
        public boolean destroy(String name) {
            return false;
        }

        @Override
        public List<StoredCache> list() {
            return List.of(CACHE);
        }
    }
}
