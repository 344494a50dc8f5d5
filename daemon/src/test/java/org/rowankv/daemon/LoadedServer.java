package org.rowankv.daemon;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * A server process that writes to the keys of its primary shards: each time a number one higher than the one it finds.
 * It prints what it finds when it begins to serve ({@code FOUND key number}), and acknowledged writes ({@code ACKED key
 * number}).
 */
final class LoadedServer {
    static final int KEYS = 60;
    static final int SERVERS = 3;
    private static final int CACHE = 1;
    private static final int WRITERS = 2;

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
                new PortCounters(),
                new ErrorLog(SystemClock.INSTANCE));
        Runtime.getRuntime().addShutdownHook(new Thread(process::close));
        process.server().awaitEnd();
        print("FAILED " + process.server().failure());
    }

    private static ClientEndpoint.Opened open(Server server, Routing routing, Object catalogue) {
        final Configuration configuration = routing.configuration();
        final AtomicBoolean closed = new AtomicBoolean();
        final List<Integer> own = new ArrayList<>();
        final KeyHash hash = new KeyHash(configuration.hashSeed());
        for (int key = 0; key < KEYS; key++) {
            final byte[] bytes = bytes(key);
            final int shard = ShardMap.shardOf(hash.hash(CACHE, bytes, 0, bytes.length), configuration.shardCount());
            if (configuration.shard(shard).primary() == server.serverId()) {
                own.add(key);
            }
        }
        final Thread first = new Thread(() -> {
            for (int key : own) {
                print("FOUND " + key + " " + read(server, configuration, hash, key));
            }
            print("SERVING " + server.serverId() + " " + configuration.term());
            for (int writer = 0; writer < WRITERS; writer++) {
                final int from = writer;
                new Thread(() -> write(server, configuration, hash, own, from, closed)).start();
            }
        });
        first.start();
        return () -> closed.set(true);
    }

    private static byte[] bytes(int key) {
        return ("key" + key).getBytes(StandardCharsets.UTF_8);
    }

    private static Request placed(Request request, Configuration configuration, KeyHash hash) {
        final long keyHash = hash.hash(CACHE, request.key(), request.keyOffset(), request.keyLength());
        request.placed(keyHash, ShardMap.shardOf(keyHash, configuration.shardCount()));
        return request;
    }

    private static long read(Server server, Configuration configuration, KeyHash hash, int key) {
        final byte[] bytes = bytes(key);
        final Request request = placed(new Request().get(CACHE, bytes, 0, bytes.length), configuration, hash);
        do {
            server.requests().call(request); // NOT_PRIMARY until it has a lease
        } while (request.status() == Status.NOT_PRIMARY && !server.isStopped());
        return request.status() == Status.OK
                ? Long.parseLong(new String(request.resultBytes(), StandardCharsets.UTF_8).strip())
                : 0;
    }

    private static void write(
            Server server,
            Configuration configuration,
            KeyHash hash,
            List<Integer> own,
            int from,
            AtomicBoolean closed) {
        try {
            final List<Integer> mine =
                    own.stream().filter(key -> key % WRITERS == from).toList();
            for (int i = 0; !closed.get() && !mine.isEmpty(); i++) {
                final int key = mine.get(i % mine.size());
                final long number = read(server, configuration, hash, key) + 1;
                final byte[] bytes = bytes(key);
                // Sometimes one that is sent in blocks.
                final byte[] value = (number + " ".repeat(number % 50 == 0 ? 20_000 : (int) (number % 300)))
                        .getBytes(StandardCharsets.UTF_8);
                final Request request = placed(
                        new Request().put(CACHE, bytes, 0, bytes.length, value, 0, value.length), configuration, hash);
                server.requests().call(request);
                if (request.status() == Status.NOT_PRIMARY) {
                    continue; // another server took over, or it has no lease
                }
                if (request.status() == Status.OK) {
                    print("ACKED " + key + " " + number);
                } else if (request.status() == Status.CLOSED) {
                    return;
                } else {
                    print("WRONG " + key + " " + request.status());
                }
            }
        } catch (IllegalStateException e) {
            // The end of the roles fails pending operations before the process learns of it.
            if (!closed.get() && !String.valueOf(e.getMessage()).startsWith("the server restarts")) {
                print("WRONG " + e);
            }
        }
    }

    private static synchronized void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
