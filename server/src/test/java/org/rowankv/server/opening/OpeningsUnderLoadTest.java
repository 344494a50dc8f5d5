package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.SHARDS;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.delete;
import static org.rowankv.server.opening.LiveCluster.get;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.topology.Configuration;

/**
 * Callers at all shards while one server of four ends, and perhaps another one while the shards of the first are being
 * opened. Each step of each server, caller and message comes at a random moment.
 */
final class OpeningsUnderLoadTest {
    private static final int SERVERS = 4;
    private static final int CALLERS_PER_SHARD = 2;
    private static final int KEYS = 3;
    private static final int STEPS = 4_000;

    private final LiveCluster cluster = new LiveCluster(SERVERS);
    /** No caller begins another request. */
    private boolean isOver;
    /** By shard and version, what it was given to. */
    private final Map<String, String> given = new HashMap<>();

    static IntStream seeds() {
        return IntStream.range(0, TestScale.of(40, 1_000));
    }

    /** One caller with keys of one shard, which repeats a request until it is answered. */
    private final class Caller {
        private final int number;
        private final int shard;
        private final long session;
        private final byte @Nullable [][] values = new byte[KEYS][];
        private final long[] versions = new long[KEYS];
        private long sequence;
        private int chosen;
        private byte @Nullable [] written;
        private @Nullable Request request;
        private @Nullable PollableCall call;
        /** The server that executes it. */
        private int server;

        Caller(int number, int shard) {
            this.number = number;
            this.shard = shard;
            this.session = cluster.session(shard);
        }

        private byte[] keyOf(int index) {
            return key(shard, 10 * (number % CALLERS_PER_SHARD) + index);
        }

        void step(Random random) {
            if (request == null && isOver) {
                return;
            }
            if (request == null) {
                begin(random);
            }
            final Request asked = request;
            if (call != null && !cluster.alive().contains(server)) {
                call = null; // it ended with its server, perhaps behind its effect
            }
            if (call == null) {
                if (!cluster.isOpen(shard)) {
                    return;
                }
                server = cluster.primary(shard).serverId();
                call = cluster.begin(asked);
            }
            if (call.step()) {
                call = null;
                if (asked.status() != Status.NOT_PRIMARY) {
                    answered(asked);
                    request = null;
                }
            }
        }

        private void begin(Random random) {
            chosen = random.nextInt(KEYS);
            final int kind = random.nextInt(4);
            final Request next;
            if (kind == 0) {
                next = get(keyOf(chosen));
            } else if (kind == 1) {
                written = null;
                next = delete(keyOf(chosen));
            } else {
                written = bytes(random.nextInt(10) == 0 ? 2_500 : random.nextInt(200), random.nextInt());
                next = put(keyOf(chosen), written);
            }
            if (kind != 0) {
                next.identified(session, ++sequence, 0);
            }
            request = next;
        }

        private void answered(Request asked) {
            switch (asked.operation()) {
                case GET -> requireValue(asked);
                case DELETE -> {
                    assertThat(asked.status()).isIn(Status.OK, Status.NOT_FOUND);
                    values[chosen] = null;
                    versions[chosen] = 0;
                }
                default -> {
                    assertThat(asked.status()).isEqualTo(Status.OK);
                    values[chosen] = written;
                    versions[chosen] = asked.version();
                    final String by = number + "#" + sequence;
                    assertThat(given.merge(shard + ":" + asked.version(), by, (former, same) -> former))
                            .as("version %d of shard %d", asked.version(), shard)
                            .isEqualTo(by);
                }
            }
        }

        private void requireValue(Request asked) {
            assertThat(asked.resultBytes())
                    .as("key %d of caller %d", chosen, number)
                    .isEqualTo(values[chosen]);
            if (values[chosen] != null) {
                assertThat(asked.version()).isEqualTo(versions[chosen]);
            }
        }

        void readAll() {
            assertThat(request)
                    .as("request of caller %d, shard %d", number, shard)
                    .isNull();
            for (chosen = 0; chosen < KEYS; chosen++) {
                requireValue(cluster.call(get(keyOf(chosen))));
            }
        }
    }

    /** The exclusion of servers, one step at one server after the other. */
    private final class Exclusion {
        private final Configuration next;
        private final List<Integer> toPrepare;
        private final List<Integer> toCommit;

        Exclusion(Random random, Integer... excluded) {
            next = cluster.excluding(random.nextInt(SERVERS), excluded);
            toPrepare = new ArrayList<>(cluster.alive());
            toCommit = new ArrayList<>(cluster.alive());
        }

        void step(Random random) {
            if (!toPrepare.isEmpty()) {
                cluster.prepare(toPrepare.remove(random.nextInt(toPrepare.size())), next);
            } else if (!toCommit.isEmpty()) {
                cluster.commit(toCommit.remove(random.nextInt(toCommit.size())), next);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldLoseNothingAndApplyNothingTwice(int seed) {
        final Random random = new Random(seed);
        final List<Caller> callers = new ArrayList<>();
        for (int i = 0; i < SHARDS * CALLERS_PER_SHARD; i++) {
            callers.add(new Caller(i, i / CALLERS_PER_SHARD));
        }
        final int losses = random.nextInt(4);
        cluster.network(delivery -> random.nextInt(10) < losses ? null : delivery);
        final int first = random.nextInt(SERVERS);
        final int second = (first + 1 + random.nextInt(SERVERS - 1)) % SERVERS;
        final int firstEnd = STEPS / 4 + random.nextInt(STEPS / 4);
        final int secondEnd = random.nextInt(3) == 0 ? STEPS : firstEnd + random.nextInt(STEPS / 8);
        Exclusion exclusion = null;
        for (int i = 0; i < STEPS; i++) {
            if (random.nextInt(40) == 0) {
                cluster.fabric
                        .gate(random.nextInt(SERVERS), random.nextInt(SERVERS))
                        .allowEntries(random.nextInt(2) == 0 ? random.nextInt(5) : Integer.MAX_VALUE);
                cluster.fabric
                        .gate(random.nextInt(SERVERS), random.nextInt(SERVERS))
                        .allowRecords(random.nextInt(3) > 0);
            }
            if (i == firstEnd) {
                cluster.stop(first);
                exclusion = new Exclusion(random, first);
            }
            if (i == secondEnd) {
                cluster.stop(second);
                exclusion = new Exclusion(random, first, second);
            }
            if (exclusion != null && random.nextInt(20) == 0) {
                exclusion.step(random);
            }
            callers.get(random.nextInt(callers.size())).step(random);
            final int server =
                    cluster.alive().get(random.nextInt(cluster.alive().size()));
            if (random.nextInt(3) == 0) {
                cluster.run(server);
            }
            if (random.nextInt(10) == 0) {
                cluster.deliver();
            }
        }
        cluster.network(delivery -> delivery);
        for (int from = 0; from < SERVERS; from++) {
            for (int to = 0; to < SERVERS; to++) {
                cluster.fabric.gate(from, to).allowEntries(Integer.MAX_VALUE);
                cluster.fabric.gate(from, to).allowRecords(true);
            }
        }
        for (int i = 0; i < 2 * SERVERS; i++) {
            exclusion.step(random);
        }
        cluster.stepUntil(cluster::isAllOpen);
        isOver = true;
        for (int i = 0; i < STEPS; i++) {
            callers.forEach(caller -> caller.step(random));
            cluster.step();
        }
        callers.forEach(Caller::readAll);
        cluster.requireAgreement();
        cluster.requireExactSpace();
        assertThat(given).hasSizeGreaterThan(100);
        assertThat(cluster.opened).isNotEmpty();
        cluster.close();
    }
}
