package org.rowankv.server.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.embedded.OneCache;

/** Searches in the catalogue continue after an error, and report the result of the reading. */
final class CatalogueThreadTest {
    /** Lists these caches; a test may make some known at once. */
    private static final class Listed extends OneCache {
        private final List<StoredCache> list;
        private final List<StoredCache> known;

        Listed(List<StoredCache> list, List<StoredCache> known) {
            this.list = list;
            this.known = known;
        }

        @Override
        public StoredCache create(String name, byte[] descriptor) {
            throw new CacheIdsUsedException(7);
        }

        @Override
        public List<StoredCache> list() {
            return list;
        }

        @Override
        public List<StoredCache> known() {
            return known;
        }
    }

    private final ErrorLog errors = new ErrorLog(new ManualClock(1, 1));
    private final BlockingQueue<CatalogueThread.Reading> readings = new LinkedBlockingQueue<>();
    private boolean exhausted;
    private final CatalogueThread catalogue =
            new CatalogueThread(new Listed(List.of(cache(1)), List.of()), errors, 1 << 20, task -> {
                if (exhausted) {
                    throw new OutOfMemoryError("unable to create native thread, by the test");
                }
                return new Thread(task);
            });

    private static StoredCache cache(int id) {
        return new StoredCache(id, "c" + id, new byte[0], CacheLimit.NONE);
    }

    @AfterEach
    void close() {
        catalogue.close();
    }

    private CatalogueThread.Reading next() throws InterruptedException {
        final CatalogueThread.Reading reading = readings.poll(30, TimeUnit.SECONDS);
        assertThat(reading).isNotNull();
        return reading;
    }

    @Test
    void shouldReadAgainAfterAThreadCouldNotBegin() throws Exception {
        exhausted = true;
        catalogue.find(readings::add);
        assertThat(next().of(1)).isEqualTo(Status.UNREACHABLE);
        assertThat(errors.count()).isEqualTo(1);

        exhausted = false;
        catalogue.find(readings::add);
        final CatalogueThread.Reading read = next();
        assertThat(read.of(1)).isEqualTo(Status.OK);
        assertThat(read.of(2)).isEqualTo(Status.UNKNOWN_CACHE);
    }

    @Test
    void shouldAnswerTheOthersWhenOneCannotBeTold() throws Exception {
        catalogue.find(reading -> {
            catalogue.find(then -> {
                throw new IllegalStateException("by the test");
            });
            catalogue.find(readings::add); // in the same reading as the one above
            readings.add(reading);
        });
        assertThat(next().of(2)).isEqualTo(Status.UNKNOWN_CACHE);
        assertThat(next().of(2)).isEqualTo(Status.UNKNOWN_CACHE);
        assertThat(errors.count()).isEqualTo(1);
    }

    @Test
    void shouldSayThatTheIdsAreUsed() throws Exception {
        final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
        catalogue.ask(Asked.CREATE, new Cache(0, "none", new byte[0], CacheLimit.NONE), answers::add);
        final Answer answer = answers.poll(30, TimeUnit.SECONDS);
        assertThat(answer.status()).isEqualTo(Status.TOO_LARGE);
        assertThat(answer.text()).contains("all of its 7 cache ids");
        assertThat(errors.count()).isZero();
    }

    /** A reading does not decide about the catalogue of later roles, except for their known caches. */
    @Test
    void shouldCallNoCacheOfOtherRolesUnknown() throws Exception {
        catalogue.find(readings::add);
        final CatalogueThread.Reading read = next();
        catalogue.use(new Listed(List.of(cache(1), cache(2), cache(3)), List.of(cache(2))));
        assertThat(read.of(2)).isEqualTo(Status.OK);
        assertThat(read.of(3)).isEqualTo(Status.UNREACHABLE);
    }
}
