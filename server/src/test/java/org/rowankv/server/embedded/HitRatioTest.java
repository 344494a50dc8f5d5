package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.Machine;

/**
 * Hit ratios of a whole store's eviction on traces, against LRU of the same size. Single-threaded and deterministic;
 * the figures go to the output.
 */
final class HitRatioTest {
    private static final int KEYS = 100_000;
    private static final int REQUESTS = 300_000;
    private static final int SCAN_EVERY = 100_000;
    private static final int LONGEST_SCAN = 30_000;

    /** Agents run by the test. */
    private static final class ByHand implements Scheduling {
        private static final long TURN_NS = 100_000;

        private final ManualClock clock;
        private final List<AgentInvoker> agents = new ArrayList<>();

        ByHand(ManualClock clock) {
            this.clock = clock;
        }

        @Override
        public AgentHandle take(Agent agent, ErrorLog errors) {
            final AgentInvoker invoker = new AgentInvoker(agent, errors);
            agents.add(invoker);
            return invoker;
        }

        @Override
        public void park(long ns) {
            step();
        }

        void step() {
            clock.advanceNs(TURN_NS); // what is committed at intervals can be forgotten
            agents.forEach(AgentInvoker::tryInvoke);
        }
    }

    /** Keys by Zipf's law: the k-th is requested in proportion to k to the power of minus the exponent. */
    private static final class Zipf {
        private final double[] upTo = new double[KEYS];
        private final RandomSource random;

        Zipf(double exponent, RandomSource random) {
            this.random = random;
            double sum = 0;
            for (int k = 0; k < KEYS; k++) {
                sum += Math.pow(k + 1, -exponent);
                upTo[k] = sum;
            }
            for (int k = 0; k < KEYS; k++) {
                upTo[k] /= sum;
            }
        }

        int next() {
            final int found = Arrays.binarySearch(upTo, (random.nextLong() >>> 11) * 0x1.0p-53);
            return Math.min(KEYS - 1, found < 0 ? -found - 1 : found);
        }
    }

    private interface Policy {
        /** Reads a key and puts it if absent; returns whether it was present. */
        boolean ask(int key);
    }

    private static Policy lru(int size) {
        final Map<Integer, Boolean> held = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
                return size() > size;
            }
        };
        return key -> held.get(key) != null || held.put(key, true) != null;
    }

    private static Policy store(RowanClient client, int cache, ByHand agents) {
        final ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES);
        final Request request = new Request();
        return key -> {
            bytes.putInt(0, key);
            client.execute(request.get(cache, bytes.array(), 0, Integer.BYTES).requestValue(false));
            if (request.status() == Status.OK) {
                return true;
            }
            client.execute(request.put(cache, bytes.array(), 0, Integer.BYTES, bytes.array(), 0, Integer.BYTES));
            assertThat(request.status()).isEqualTo(Status.OK);
            agents.step();
            return false;
        };
    }

    /** Hits of the Zipf part after the first third, in percent. */
    private static double percent(Policy policy, double exponent, boolean scans, int size) {
        final Zipf keys = new Zipf(exponent, new SplittableRandomSource(42));
        int scanned = KEYS;
        int hits = 0;
        for (int i = 0; i < REQUESTS; i++) {
            if (scans && i % SCAN_EVERY == SCAN_EVERY - 1) {
                for (int s = 0; s < Math.min(2 * size, LONGEST_SCAN); s++) {
                    policy.ask(scanned++);
                }
            }
            hits += policy.ask(keys.next()) && i >= REQUESTS / 3 ? 1 : 0;
        }
        return 100.0 * hits / (REQUESTS - REQUESTS / 3);
    }

    @ParameterizedTest
    @Tag("long")
    @CsvSource({"0.8,false,10000", "1.0,false,1000", "1.0,true,10000"})
    void shouldHitNotLessOftenThanLruOnOtherTraces(double exponent, boolean scans, int size) {
        shouldHitNotLessOftenThanLru(exponent, scans, size);
    }

    @ParameterizedTest
    @CsvSource({"0.8,false,1000", "1.0,false,10000", "1.0,true,1000"})
    void shouldHitNotLessOftenThanLru(double exponent, boolean scans, int size) {
        final ManualClock clock = new ManualClock();
        final ByHand agents = new ByHand(clock);
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 1;
            with.shards = 16;
            with.workers = 1;
            with.capacityBytes = 16 << 20;
        });
        final EmbeddedContext context = new EmbeddedContext(
                server -> clock,
                new SplittableRandomSource(1),
                agents,
                UnaryOperator.identity(),
                null,
                Machine.PRESENT,
                usual -> {},
                1,
                true);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings, context);
                RowanClient client = new RowanClient(cluster.session(), clock, new SplittableRandomSource(2))) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            client.catalogue().limit("c", new CacheLimit(size, CacheLimit.NO_LIMIT));
            final double ours = percent(store(client, cache, agents), exponent, scans, size);
            final double lru = percent(lru(size), exponent, scans, size);
            System.out.printf(
                    Locale.ROOT,
                    "Zipf %.1f%s, %d of %d keys: %.1f %% hits, LRU %.1f %%%n",
                    exponent,
                    scans ? " and scans" : "",
                    size,
                    KEYS,
                    ours,
                    lru);
            assertThat(ours).isGreaterThanOrEqualTo(lru);
            assertThat(cluster.errors().distinct()).isEmpty();
        }
    }
}
