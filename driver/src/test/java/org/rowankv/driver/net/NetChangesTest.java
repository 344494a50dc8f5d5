package org.rowankv.driver.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.TestScale;

/**
 * Subscribers receive each change once and in order, wherever the primaries are, and however the client learns of that.
 */
@Timeout(120)
final class NetChangesTest {
    private static final int SHARDS = 4;
    private static final int PORTS = 3;
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

    /** Records events by shard. */
    private static final class Recorder implements ChangeListener {
        private final List<List<Long>> heard = IntStream.range(0, SHARDS)
                .<List<Long>>mapToObj(shard -> new CopyOnWriteArrayList<>())
                .toList();
        private final List<String> losses = new CopyOnWriteArrayList<>();
        private volatile Runnable then = () -> {};

        @Override
        public void onChange(int shard, Change change) {
            heard.get(shard).add(change.version());
            then.run();
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            losses.add(shard + ": " + after + " to " + upTo);
        }
    }

    private final ModelSession model = new ModelSession(SystemClock.INSTANCE, SHARDS);
    private final List<List<Change>> changes = IntStream.range(0, SHARDS)
            .<List<Change>>mapToObj(shard -> new CopyOnWriteArrayList<>())
            .toList();
    private ModelPorts ports;
    private NetSession session;

    @BeforeEach
    void connect() throws IOException {
        ports = new ModelPorts(model, PORTS, 1 << 20);
        ports.tell(this::after);
        session = NetSession.connect(
                List.of(ports.address(0)), NetSettings.DEFAULT.withTimes(LONG_NS, LONG_NS), SystemClock.INSTANCE);
    }

    @AfterEach
    void close() throws IOException {
        ports.release();
        session.close();
        ports.close();
        assertThat(ports.failures()).isEmpty();
    }

    private Section after(int index, int shard, long position) {
        final List<Change> all = List.copyOf(changes.get(shard));
        final long last = all.isEmpty() ? 0 : all.get(all.size() - 1).version();
        final List<Change> news = position < 0
                ? List.of()
                : all.stream().filter(change -> change.version() > position).toList();
        return new Section(index, Status.OK, position, 0, Math.max(position, last), news);
    }

    private void change(int shard) {
        final List<Change> own = changes.get(shard);
        own.add(new Change(own.size() + 1L, ChangeType.CREATED, "k".getBytes(UTF_8), new byte[1], null));
    }

    /** From the newest version at its start. */
    private void assertHearsAll(Recorder recorder, long[] begun) {
        await().atMost(60, TimeUnit.SECONDS).untilAsserted(() -> {
            for (int shard = 0; shard < SHARDS; shard++) {
                final long from = begun[shard];
                assertThat(recorder.heard.get(shard))
                        .as("shard %d", shard)
                        .containsExactlyElementsOf(changes.get(shard).stream()
                                .map(Change::version)
                                .filter(version -> version > from)
                                .toList());
            }
        });
        assertThat(recorder.losses).isEmpty();
    }

    private long[] newest() {
        return changes.stream().mapToLong(List::size).toArray();
    }

    /** Servers move to other addresses and roles change; the client learns of it on another connection. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void shouldHearOfChangesWhereverPrimariesAre(long seed) {
        final Random random = new Random(seed);
        final Recorder recorder = new Recorder();
        session.subscribe(1, false, null, recorder);
        final long[] begun = newest();
        List<Integer> primaryPorts = List.of(0, 0, 0, 0);
        for (int move = 0; move < TestScale.of(10, 200); move++) {
            final int asking = (int) primaryPorts.stream().distinct().count();
            ports.hold();
            // Holds all pollers, so that no server refuses them.
            await().atMost(60, TimeUnit.SECONDS).until(() -> ports.held() == asking);
            final List<Integer> at =
                    new ArrayList<>(IntStream.range(0, PORTS).boxed().toList());
            java.util.Collections.shuffle(at, random);
            final List<Integer> servers = at.subList(0, 1 + random.nextInt(PORTS));
            final List<Integer> primaries = IntStream.range(0, SHARDS)
                    .map(shard -> random.nextInt(servers.size()))
                    .boxed()
                    .toList();
            ports.place(servers, primaries);
            await().atMost(60, TimeUnit.SECONDS).until(() -> session.seek(ports.term() - 1));
            ports.release();
            primaryPorts = primaries.stream().map(servers::get).toList();
            change(random.nextInt(SHARDS));
            change(random.nextInt(SHARDS));
            assertHearsAll(recorder, begun);
        }
    }

    /** The last subscription ends its threads and connections; the next one starts them again. */
    @Test
    void shouldHearAgainAfterNobodyHasListened() {
        final int plain = ports.connections();
        for (int i = 0; i < 3; i++) {
            final Recorder recorder = new Recorder();
            final long[] begun = newest();
            try (ChangeSubscription subscription = session.subscribe(1, true, null, recorder)) {
                change(i);
                change(3);
                assertHearsAll(recorder, begun);
                assertThat(subscription.position().version(i))
                        .isEqualTo(changes.get(i).size());
            }
            await().atMost(60, TimeUnit.SECONDS).until(() -> ports.connections() <= plain + 1);
            change(3);
        }
    }

    /** Errors too: a missing class, or a stack overflow. */
    @Test
    void shouldGoOnAfterWhateverAListenerThrows() {
        final Recorder recorder = new Recorder();
        session.subscribe(1, false, null, recorder);
        final long[] begun = newest();
        for (Runnable failing : List.<Runnable>of(
                () -> {
                    throw new IllegalStateException("of the test");
                },
                () -> {
                    throw new NoClassDefFoundError("of the test");
                },
                () -> {
                    throw new StackOverflowError("of the test");
                })) {
            recorder.then = failing;
            for (int shard = 0; shard < SHARDS; shard++) {
                change(shard);
                change(shard);
            }
            assertHearsAll(recorder, begun);
        }
    }
}
