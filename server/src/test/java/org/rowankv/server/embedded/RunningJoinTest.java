package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;

/** A server joins the shards of others while these serve, under load, and then they end. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
final class RunningJoinTest {
    private static final int JOINER = 2;
    private static final int KEYS = 120;
    private static final int WRITERS = 3;
    private static final long FAST = 1L << 30;

    /** Writes to its own keys, in its own sessions, and repeats each request until it is answered. */
    private static final class Writer implements Runnable {
        private final RunningServers servers;
        private final int number;
        private final Random random;
        private final Map<String, Long> model = new HashMap<>();
        private final long[] sequences = new long[RunningServers.SHARDS];
        private final String[] lastKeys = new String[RunningServers.SHARDS];
        private final long[] lastVersions = new long[RunningServers.SHARDS];
        private final Request request = new Request();
        private final Thread thread;
        private volatile boolean over;
        private final AtomicLong written = new AtomicLong();
        private volatile Throwable failure;

        Writer(RunningServers servers, int number) {
            this.servers = servers;
            this.number = number;
            this.random = new Random(number);
            this.thread = new Thread(this, "writer-" + number);
            for (int shard = 0; shard < RunningServers.SHARDS; shard++) {
                open(shard);
            }
        }

        private long session() {
            return 1000L + number;
        }

        private void open(int shard) {
            long asOf = 0;
            do {
                servers.call(request.openSession(shard, session(), asOf));
                asOf = request.version();
            } while (request.status() == Status.SESSION_EXPIRED);
            assertThat(request.status()).isEqualTo(Status.OK);
        }

        @Override
        public void run() {
            try {
                while (!over) {
                    write();
                }
                for (int key = 0; key < KEYS; key++) {
                    put("w" + number + "-" + key, 100); // so that each session has a last put
                }
            } catch (RuntimeException | Error e) {
                failure = e;
            }
        }

        private void write() {
            final String key = "w" + number + "-" + random.nextInt(KEYS);
            final int kind = random.nextInt(20);
            if (kind == 0) {
                put(key, 3000);
            } else if (kind < 4) {
                delete(key);
            } else {
                put(key, 50 + random.nextInt(400));
            }
            written.incrementAndGet();
        }

        private void put(String key, int length) {
            final int shard = RunningServers.shardOf(key);
            final long value = ++sequences[shard];
            do {
                RunningServers.put(request, key, Stores.value(key, value, length))
                        .identified(session(), value, 0);
            } while (!isAnswered());
            model.put(key, value);
            lastKeys[shard] = key;
            lastVersions[shard] = request.version();
        }

        private void delete(String key) {
            final long sequence = ++sequences[RunningServers.shardOf(key)];
            do {
                RunningServers.delete(request, key).identified(session(), sequence, 0);
            } while (!isAnswered());
            model.remove(key);
        }

        private boolean isAnswered() {
            final boolean isAnswered = servers.call(request);
            if (!isAnswered) {
                assertThat(request.status()).isNotIn(Status.FULL, Status.SESSION_EXPIRED, Status.BAD_REQUEST);
                servers.pause();
            }
            return isAnswered;
        }

        void awaitMore(int writes) {
            final long enough = written.get() + writes;
            while (written.get() < enough && failure == null) {
                servers.pause();
            }
            assertThat(failure).isNull();
        }

        void end() throws InterruptedException {
            over = true;
            thread.join();
            assertThat(failure).isNull();
        }

        void requireModel() {
            for (int i = 0; i < KEYS; i++) {
                final String key = "w" + number + "-" + i;
                final byte[] value = servers.get(key);
                assertThat(value == null ? null : Stores.numberOf(key, value))
                        .as(key)
                        .isEqualTo(model.get(key));
            }
        }

        /** A repeated request meets its completion, which came with the sessions. */
        void requireCompletions() {
            for (int shard = 0; shard < RunningServers.SHARDS; shard++) {
                final String key = lastKeys[shard];
                RunningServers.put(request, key, Stores.value(key, 999, 50)).identified(session(), sequences[shard], 0);
                servers.requireOk(request);
                assertThat(request.version()).as("session at shard %d", shard).isEqualTo(lastVersions[shard]);
            }
        }
    }

    private static List<Writer> startWriters(RunningServers servers, int round) {
        final List<Writer> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            writers.add(new Writer(servers, WRITERS * round + i));
        }
        writers.forEach(writer -> writer.thread.start());
        writers.forEach(writer -> writer.awaitMore(300));
        return writers;
    }

    @Test
    void shouldHoldAllThatWasAcknowledgedWhenItIsTheLastOne() throws InterruptedException {
        try (RunningServers servers = new RunningServers(ThreadScheduling.INSTANCE, SystemClock.INSTANCE, FAST)) {
            final List<Writer> writers = startWriters(servers, 0);
            servers.adopt(servers.adding(JOINER));
            servers.awaitReported(JOINER);
            servers.adopt(servers.joined(JOINER));
            assertThat(servers.configuration().isJoining(JOINER)).isFalse();
            writers.forEach(writer -> writer.awaitMore(100));

            servers.kill(0);
            servers.adopt(servers.excluding(0, JOINER));
            writers.forEach(writer -> writer.awaitMore(100));
            servers.kill(1);
            servers.adopt(servers.excluding(1, JOINER));
            writers.forEach(writer -> writer.awaitMore(100));

            for (Writer writer : writers) {
                writer.end();
            }
            writers.forEach(Writer::requireModel);
            writers.forEach(Writer::requireCompletions);
            servers.requireNoErrors();
        }
    }

    /** What was under way, sent again or copied twice is accounted once. */
    @Test
    void shouldAccountItsSpaceExactly() throws InterruptedException {
        try (RunningServers servers = new RunningServers(ThreadScheduling.INSTANCE, SystemClock.INSTANCE, 4L << 20)) {
            for (int round = 0; round < 3; round++) {
                final List<Writer> writers = startWriters(servers, round);
                servers.adopt(servers.adding(JOINER));
                servers.awaitReported(JOINER);
                servers.adopt(servers.joined(JOINER));
                for (Writer writer : writers) {
                    writer.end();
                }
                servers.requireAgreement();
                servers.requireExactSpace();
                writers.forEach(Writer::requireModel);
                servers.kill(JOINER);
                servers.adopt(servers.excluding(JOINER, 0));
                servers.restart(JOINER);
            }
            servers.requireNoErrors();
        }
    }
}
