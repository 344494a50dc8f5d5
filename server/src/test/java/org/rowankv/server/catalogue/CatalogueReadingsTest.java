package org.rowankv.server.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;

/** A search receives a reading that began after it, and an answered request makes room for another one. */
final class CatalogueReadingsTest {
    /** Minimum number of pending requests. */
    private static final int MAX_WAITING = 1_024;

    private final ErrorLog errors = new ErrorLog(new ManualClock(1, 1));
    private final Growing growing = new Growing();
    private final CatalogueThread catalogue = new CatalogueThread(growing, errors, 1 << 20);
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    /** Creates caches during a reading, and blocks requests until released. */
    private static final class Growing implements ClientCatalogue {
        private final List<StoredCache> caches = new CopyOnWriteArrayList<>();
        private volatile Runnable behindEachReading = () -> {};
        private volatile CountDownLatch answering = new CountDownLatch(0);

        @Override
        public @Nullable StoredCache find(String name) {
            try {
                assertThat(answering.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return null;
        }

        @Override
        public StoredCache create(String name, byte[] descriptor) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean limit(String name, CacheLimit limit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long evictions(int cacheId) {
            throw new UnsupportedOperationException();
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
            throw new UnsupportedOperationException();
        }

        @Override
        public List<StoredCache> list() {
            final List<StoredCache> read = List.copyOf(caches);
            behindEachReading.run();
            return read;
        }
    }

    @AfterEach
    void close() {
        catalogue.close();
        assertThat(errors.distinct()).isEmpty();
    }

    private static <T> T next(BlockingQueue<T> heard) throws InterruptedException {
        final T next = heard.poll(60, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    /** The cache existed when the search began: an earlier reading must not report it as unknown. */
    @Test
    void shouldKnowEachCacheThatWasCreatedBeforeItsSearch() throws InterruptedException {
        final int searches = 20;
        final BlockingQueue<Status> found = new LinkedBlockingQueue<>();
        growing.behindEachReading = () -> {
            final int id = growing.caches.size() + 1;
            if (id <= searches) {
                growing.caches.add(new StoredCache(id, "c" + id, new byte[0], CacheLimit.NONE));
                catalogue.find(reading -> found.add(reading.of(id)));
            }
        };
        catalogue.find(reading -> found.add(reading.of(searches + 1)));
        assertThat(next(found)).isEqualTo(Status.UNKNOWN_CACHE);
        for (int i = 0; i < searches; i++) {
            assertThat(next(found)).isEqualTo(Status.OK);
        }
    }

    private void ask() {
        catalogue.ask(Asked.FIND, new Cache(0, "c", new byte[0], CacheLimit.NONE), answers::add);
    }

    @Test
    void shouldAnswerAsManyQuestionsAsComeOneAfterTheOther() throws InterruptedException {
        for (int i = 0; i < 2 * MAX_WAITING; i++) {
            ask();
            assertThat(next(answers).status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void shouldHaveRoomForAsManyQuestionsAgainAndAgain() throws InterruptedException {
        for (int times = 0; times < 3; times++) {
            final CountDownLatch answering = new CountDownLatch(1);
            growing.answering = answering;
            int asked = 0;
            do {
                ask();
                asked++;
            } while (answers.isEmpty());
            // The last one was refused; one more may have left the queue.
            assertThat(asked - 1).isBetween(MAX_WAITING, MAX_WAITING + 1);
            answering.countDown();
            final List<Status> statuses = new ArrayList<>();
            while (statuses.size() < asked) {
                statuses.add(next(answers).status());
            }
            assertThat(statuses.get(0)).isEqualTo(Status.FULL);
            assertThat(statuses.subList(1, asked)).containsOnly(Status.OK);
        }
    }
}
