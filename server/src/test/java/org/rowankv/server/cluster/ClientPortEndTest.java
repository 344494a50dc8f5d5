package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.SelectorPoller;
import org.rowankv.rdma.tcp.TcpIoPoller;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardMap;

/** A client port ends while mutations await an unreachable backup: their worker contexts are released. */
class ClientPortEndTest {
    private static final int CACHE = 1;
    private static final long PATIENCE_NS = 60_000_000_000L;

    @TempDir
    Path dir;

    private Configuration configuration;
    private Server server;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private long hash(byte[] key) {
        return new KeyHash(configuration.hashSeed()).hash(CACHE, key, 0, key.length);
    }

    private int shard(byte[] key) {
        return ShardMap.shardOf(hash(key), configuration.shardCount());
    }

    /** Keys whose primary is the server with the port, each of another shard: none waits for the lock of another. */
    private List<byte[]> ownKeys(int count) {
        final List<byte[]> own = new ArrayList<>();
        final Set<Integer> shards = new HashSet<>();
        for (int i = 0; own.size() < count; i++) {
            final byte[] key = bytes("key" + i);
            if (configuration.shard(shard(key)).primary() == server.serverId() && shards.add(shard(key))) {
                own.add(key);
            }
        }
        return own;
    }

    private long versions() {
        long sum = 0;
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            sum += server.lastVersion(shard);
        }
        return sum;
    }

    private Request placed(Request request) {
        request.placed(hash(request.key()), shard(request.key()));
        return request;
    }

    private PollableCall call(byte[] key, String value) {
        return server.requests()
                .stepped(placed(new Request().put(CACHE, key, 0, key.length, bytes(value), 0, bytes(value).length)));
    }

    /** Ends with its session. */
    private static Thread putting(RowanClient client, byte[] key) {
        final Thread thread = new Thread(() -> {
            try {
                client.put(CACHE, key, bytes("second"));
            } catch (RowanException e) {
                assertThat(e).isNotNull(); // the port was closed
            }
        });
        thread.start();
        return thread;
    }

    /**
     * @param own whether the port's loop does the I/O of the queue pairs: then they end with it, and others continue
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveWorkerContextsBackWhenAPortEndsUnderWhatIsUnderWay(boolean own)
            throws IOException, InterruptedException {
        final IoPoller io = own ? new TcpIoPoller() : new SelectorPoller();
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)) {
            bed.members.get(0).ios = List.of(io);
            bed.startAll();
            configuration = bed.configuration();
            server = bed.server(0);
            final List<byte[]> keys = ownKeys(ClusterBed.WORKERS);
            final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
            final ClientPort port = ClientPort.bind(
                    server,
                    bed.members.get(0).catalogue,
                    ClientPortSettings.at("127.0.0.1", 0, with -> with.drainNs = 0),
                    SystemClock.INSTANCE,
                    errors,
                    new PortCounters(SystemClock.INSTANCE),
                    List.of(io));
            final String address = "127.0.0.1:" + port.address().getPort();
            port.serve(new Routing(configuration, List.of(address, address)));
            final List<Thread> callers = new ArrayList<>();
            final List<PollableCall> next = new ArrayList<>();
            final NetSession session = NetSession.connect(
                    List.of(address), NetSettings.DEFAULT.withTimes(PATIENCE_NS, PATIENCE_NS), SystemClock.INSTANCE);
            try {
                final RowanClient client =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1), PATIENCE_NS);
                assertThat(client.catalogue().create("c", new byte[0]).id()).isEqualTo(CACHE);
                for (byte[] key : keys) {
                    client.put(CACHE, key, bytes("first!"));
                }
                assertThat(io.carriesPairs()).isEqualTo(own);
                bed.members.get(1).proxy.refuse(true);
                assertThat(bed.members.get(1).proxy.cut()).isPositive();
                final long before = versions();
                // As long as the replaced value: that needs no space at the backup, which is unreachable.
                keys.forEach(key -> callers.add(putting(client, key)));
                await().atMost(Duration.ofSeconds(60)).until(() -> versions() - before == keys.size());
                port.close();
                assertThat(port.unfinished()).isEqualTo(keys.size());
                for (byte[] key : keys) {
                    final PollableCall one = call(key, "third!");
                    assertThat(one.step()).isFalse();
                    assertThat(one.awaitsWorker()).isFalse();
                    next.add(one);
                }
                final PollableCall oneTooMany = call(keys.get(0), "none");
                assertThat(oneTooMany.step()).isFalse();
                assertThat(oneTooMany.awaitsWorker()).isTrue();
                bed.members.get(1).proxy.refuse(false);
                // The abandoned mutations complete first, then the later ones, polled alternately as by a loop. The
                // abandoned ones are mostly openings of sessions; with an open session it is a put, whose key lock one
                // of these awaits, and the context of another completes it.
                await().atMost(Duration.ofSeconds(60)).until(() -> {
                    next.removeIf(PollableCall::step);
                    return next.isEmpty();
                });
                session.close();
                for (Thread caller : callers) {
                    caller.join();
                }
            } finally {
                next.forEach(PollableCall::abandon); // the end of the server waits for their worker contexts
                session.close();
                port.close();
            }
            for (byte[] key : keys) {
                final Request get = placed(new Request().get(CACHE, key, 0, key.length));
                await().atMost(Duration.ofSeconds(60)).until(() -> {
                    server.requests().call(get);
                    return get.status() != Status.NOT_PRIMARY; // until it has a lease again
                });
                assertThat(get.status()).isEqualTo(Status.OK);
                assertThat(get.resultBytes()).isEqualTo(bytes("third!"));
            }
            assertThat(errors.distinct()).isEmpty();
        }
    }
}
