package org.rowankv.daemon;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardMap;

/**
 * A server process that writes to the keys of the shards that it has: each time a number one higher than the one it finds.
 * It prints what it finds when it begins to serve ({@code FOUND key number}), and acknowledged writes ({@code ACKED key
 * number}).
 */
final class LoadedServer {
    static final int KEYS = 60;
    static final int SERVERS = 3;
    private static final int CACHE = 1;
    private static final int WRITERS = 2;
    private static final long PAUSE_NS = 1_000_000;

    private LoadedServer() {}

    /** Arguments: name, directory, ZooKeeper, port for servers, level, lease in milliseconds. */
    public static void main(String[] arguments) {
        final int port = Integer.parseInt(arguments[3]);
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = "loaded";
            with.name = arguments[0];
            with.dir = Path.of(arguments[1]);
            with.advertised = new HostAndPort("127.0.0.1", port);
            with.shape = new ClusterShape(SERVERS, 2, 12, 64 << 10, 16 << 10, Durability.valueOf(arguments[4]));
            with.capacityBytes = 8 << 20;
            with.workers = 4;
            with.drainMs = 5000;
            with.leaseMs = Long.parseLong(arguments[5]);
        });
        final ServerProcess process = new ServerProcess(
                settings,
                new ZooKeeperConfigurationStore(arguments[2], settings.cluster(), 3000),
                TcpTransport.choose(true),
                new InetSocketAddress("127.0.0.1", port),
                new InetSocketAddress("127.0.0.1", 0),
                LoadedServer::open,
                new PortCounters(SystemClock.INSTANCE),
                new ErrorLog(SystemClock.INSTANCE));
        Runtime.getRuntime().addShutdownHook(new Thread(process::close));
        process.server().awaitEnd();
        print("FAILED " + process.server().failure());
    }

    private static ClientEndpoint.Opened open(Server server, Routing routing, Object catalogue) {
        final Load load = new Load(server, routing.configuration());
        final Thread first = new Thread(load::begin);
        first.start();
        return load;
    }

    /** Writes the keys whose primary this server is, by the roles in force. */
    private static final class Load implements ClientEndpoint.Opened {
        private final Server server;
        private final KeyHash hash;
        private volatile Configuration configuration;
        private volatile boolean closed;

        Load(Server server, Configuration first) {
            this.server = server;
            this.hash = new KeyHash(first.hashSeed());
            this.configuration = first;
        }

        @Override
        public void route(Routing inForce) {
            configuration = inForce.configuration();
        }

        @Override
        public void close() {
            closed = true;
        }

        private void begin() {
            final Configuration first = configuration;
            for (int key = 0; key < KEYS; key++) {
                if (isOwn(key)) {
                    print("FOUND " + key + " " + read(key));
                }
            }
            print("SERVING " + server.serverId() + " " + first.term());
            for (int writer = 0; writer < WRITERS; writer++) {
                final int from = writer;
                new Thread(() -> write(from)).start();
            }
        }

        private boolean isOwn(int key) {
            final Configuration now = configuration;
            return now.shard(shardOf(bytes(key))).primary() == server.serverId();
        }

        private int shardOf(byte[] key) {
            return ShardMap.shardOf(hash.hash(CACHE, key, 0, key.length), configuration.shardCount());
        }

        private Request placed(Request request, byte[] key) {
            request.placed(hash.hash(CACHE, key, 0, key.length), shardOf(key));
            return request;
        }

        /** −1 if the shard has left this server. */
        private long read(int key) {
            final byte[] bytes = bytes(key);
            final Request request = placed(new Request().get(CACHE, bytes, 0, bytes.length), bytes);
            do {
                server.requests().call(request); // NOT_PRIMARY until it has a lease
            } while (request.status() == Status.NOT_PRIMARY && !server.isStopped() && isOwn(key));
            if (request.status() == Status.NOT_PRIMARY) {
                return -1;
            }
            return request.status() == Status.OK
                    ? Long.parseLong(new String(request.resultBytes(), StandardCharsets.UTF_8).strip())
                    : 0;
        }

        private void write(int from) {
            try {
                for (int key = from; !closed; key = key + WRITERS < KEYS ? key + WRITERS : from) {
                    if (!isOwn(key)) {
                        LockSupport.parkNanos(PAUSE_NS);
                        continue;
                    }
                    final long number = read(key) + 1;
                    if (number > 0 && !write(key, number)) {
                        return;
                    }
                }
            } catch (IllegalStateException e) {
                // The end of the roles fails pending operations before the process learns of it.
                if (!closed && !String.valueOf(e.getMessage()).startsWith("the server restarts")) {
                    print("WRONG " + e);
                }
            }
        }

        /** False if the server is closed. */
        private boolean write(int key, long number) {
            final byte[] bytes = bytes(key);
            // Sometimes one that is sent in blocks.
            final byte[] value = (number + " ".repeat(number % 50 == 0 ? 20_000 : (int) (number % 300)))
                    .getBytes(StandardCharsets.UTF_8);
            final Request request =
                    placed(new Request().put(CACHE, bytes, 0, bytes.length, value, 0, value.length), bytes);
            server.requests().call(request);
            if (request.status() == Status.OK) {
                print("ACKED " + key + " " + number);
            } else if (request.status() != Status.NOT_PRIMARY && request.status() != Status.CLOSED) {
                print("WRONG " + key + " " + request.status());
            }
            return request.status() != Status.CLOSED;
        }
    }

    private static byte[] bytes(int key) {
        return ("key" + key).getBytes(StandardCharsets.UTF_8);
    }

    private static synchronized void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
