package org.rowankv.jcache.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import javax.cache.Cache;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/** Over a store that streams changes, a change of this JVM is delivered once: by the operation. */
@Timeout(120)
final class EventHubTest {
    /** A store whose stream the test writes. */
    private static final class StreamingSession implements ForwardingSession {
        private final ModelSession model = new ModelSession(SystemClock.INSTANCE);
        private volatile ChangeListener stream;

        @Override
        public ModelSession below() {
            return model;
        }

        @Override
        public boolean streamsChanges() {
            return true;
        }

        @Override
        public ChangeSubscription subscribe(
                int cacheId, boolean oldValues, StreamPosition from, ChangeListener listener) {
            stream = listener;
            return new ChangeSubscription() {
                @Override
                public StreamPosition position() {
                    return StreamPosition.of(StreamPosition.NOTHING_YET);
                }

                @Override
                public long timesLost() {
                    return 0;
                }

                @Override
                public void close() {
                    stream = null;
                }
            };
        }
    }

    private static final byte[] KEY = "k".getBytes(UTF_8);

    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, String> source = caches.create();
    private final StreamingSession session = new StreamingSession();
    private final RowanClient client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1));
    private final int cache = client.catalogue().create("c", new byte[0]).id();
    private final DeliveredChanges delivered = new DeliveredChanges();
    private final EventHub hub = new EventHub(new CallbackThreads(), client, cache, delivered);
    private final List<String> received = new CopyOnWriteArrayList<>();
    /** Held as its cache would. */
    private Subscription<String, String> subscription;

    @BeforeEach
    void listen() {
        final CacheEntryCreatedListener<String, String> listener =
                events -> events.forEach(event -> received.add(event.getKey() + "=" + event.getValue()));
        subscription = new Subscription<>(
                source,
                Registration.of(new MutableCacheEntryListenerConfiguration<>(() -> listener, null, false, true)),
                new EntryDecoder<>() {
                    @Override
                    public String key(byte[] bytes) {
                        return new String(bytes, UTF_8);
                    }

                    @Override
                    public String value(byte[] bytes) {
                        return new String(bytes, UTF_8);
                    }

                    @Override
                    public String valueInParts(int shard, byte[] list) {
                        throw new AssertionError("no value is in parts");
                    }
                },
                false,
                Runnable::run,
                100);
        hub.subscribe(subscription);
    }

    @AfterEach
    void close() {
        client.close();
        caches.close();
    }

    private Request put(String value) {
        final byte[] bytes = value.getBytes(UTF_8);
        return new Request().put(cache, KEY, 0, KEY.length, bytes, 0, bytes.length);
    }

    private static Change created(long version, String value) {
        return new Change(version, ChangeType.CREATED, KEY, value.getBytes(UTF_8), null);
    }

    @Test
    void shouldTellOnceOfWhatTheStreamBringsToo() {
        final Request put = put("mine");
        hub.execute(put);
        session.stream.onChange(put.shard(), created(put.version(), "mine"));
        assertThat(received).containsExactly("k=mine");
        session.stream.onChange(put.shard(), created(put.version() + 1, "theirs"));
        assertThat(received).as("the change of another JVM").containsExactly("k=mine", "k=theirs");
    }

    /** The operation has completed at the store and stops while it records its events: the stream waits until then. */
    @Test
    void shouldNotLookWhetherAChangeIsToldWhileAnOperationOnThatKeyIsUnderWay() throws InterruptedException {
        final Request put = put("mine");
        final Thread operation = new Thread(() -> hub.execute(put));
        final AtomicBoolean looked = new AtomicBoolean();
        final AtomicReference<DeliveredChanges.Verdict> verdict = new AtomicReference<>();
        final Thread stream = new Thread(() -> hub.deliverFromStream(0, created(put.version(), "mine"), () -> {
            looked.set(true);
            verdict.set(delivered.classify(put.shard(), created(put.version(), "mine")));
            return verdict.get() != DeliveredChanges.Verdict.NEW;
        }));
        synchronized (delivered) {
            operation.start();
            await().atMost(Duration.ofSeconds(30)).until(() -> operation.getState() == Thread.State.BLOCKED);
            stream.start();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> looked.get() || stream.getState() == Thread.State.WAITING);
            assertThat(looked)
                    .as("whether the stream proceeds before the operation has recorded")
                    .isFalse();
        }
        operation.join();
        stream.join();
        assertThat(verdict).hasValue(DeliveredChanges.Verdict.DELIVERED);
        assertThat(received).containsExactly("k=mine");
    }
}
