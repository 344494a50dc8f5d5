package org.rowankv.server.catalogue;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.frontend.CatalogueRequests;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards client requests to the catalogue, on its own thread, since they may block. The thread exists only while
 * there are requests.
 */
public final class CatalogueThread implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CatalogueThread.class);
    /** Pending requests of all connections together. Of one connection, {@link CatalogueRequests#MAX_WAITING}. */
    private static final int MAX_WAITING = 1_024;

    /** Result of a catalogue reading, for caches that were unknown before it. */
    public interface Reading {
        /**
         * OK if the cache is known now, UNKNOWN_CACHE if the catalogue was read without it, else UNREACHABLE.
         * Thread-safe.
         */
        Status of(int cacheId);
    }

    /** Waits for a reading of the catalogue. */
    private static final class Search {
        private final Consumer<Reading> then;
        /** The previous one in arrival order; after the reversal, the next one. */
        private @Nullable Search next;

        Search(Consumer<Reading> then) {
            this.then = then;
        }
    }

    private static final Answer BUSY = refusal(Status.FULL, "too many catalogue requests are pending");

    private static final Answer RESTARTING = refusal(Status.CLOSED, "the server restarts; retry");

    /** Known caches of the catalogue of one role term. */
    private static final class Read {
        /** Null while the server has no roles. */
        private final @Nullable ClientCatalogue catalogue;

        private final KnownCaches known = new KnownCaches();

        Read(@Nullable ClientCatalogue catalogue) {
            this.catalogue = catalogue;
            if (catalogue != null) {
                known.add(catalogue.known());
            }
        }
    }

    private volatile Read present;
    /**
     * Searches that wait for a reading to begin, the newest first. The one that finds an empty list triggers the
     * reading.
     */
    private final AtomicReference<@Nullable Search> searches = new AtomicReference<>();

    private final ErrorLog errors;
    private final int maxFrame;
    private final AtomicInteger waiting = new AtomicInteger();
    /** Its queue holds pending requests, and one reading of the catalogue for searches, which no request displaces. */
    private final ThreadPoolExecutor thread;

    public CatalogueThread(ClientCatalogue catalogue, ErrorLog errors, int maxFrame) {
        this(catalogue, errors, maxFrame, task -> DetachedThread.of(task, "rowan-client-catalogue"));
    }

    /** As above, with another thread factory. */
    public CatalogueThread(ClientCatalogue catalogue, ErrorLog errors, int maxFrame, ThreadFactory threads) {
        this.present = new Read(catalogue);
        this.errors = errors;
        this.maxFrame = maxFrame;
        this.thread = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            final Thread made = threads.newThread(task);
            made.setName("rowan-client-catalogue");
            made.setDaemon(true);
            return made;
        });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Sets the catalogue for later requests; null: none. Requests in progress continue with theirs. */
    public void use(@Nullable ClientCatalogue newCatalogue) {
        present = new Read(newCatalogue);
    }

    private static Answer refusal(Status status, String text) {
        return new Answer(status, 0, List.of(), text);
    }

    /**
     * Sends a request to the catalogue.
     *
     * @param then receives the answer: on the catalogue's thread, or here if the queue is full
     */
    public void ask(Asked asked, Cache cache, Consumer<Answer> then) {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            then.accept(BUSY);
            return;
        }
        boolean submitted = false;
        try {
            thread.execute(() -> {
                waiting.decrementAndGet();
                then.accept(limited(answer(asked, cache)));
            });
            submitted = true;
        } catch (RejectedExecutionException e) {
            then.accept(BUSY); // the port is closing
        } finally {
            if (!submitted) {
                waiting.decrementAndGet();
            }
        }
    }

    /** Whether the catalogue has assigned that id, according to its readings. Thread-safe. */
    public boolean isKnown(int cacheId) {
        return present.known.contains(cacheId);
    }

    /**
     * Reads the catalogue again to resolve an unknown id: once for all calls that precede the reading. Thread-safe.
     *
     * @param then receives the result, once, even if the catalogue is unreachable; on the catalogue's thread, or here
     */
    public void find(Consumer<Reading> then) {
        final Search search = new Search(then);
        if (searches.getAndUpdate(before -> {
                    search.next = before;
                    return search;
                })
                != null) {
            return;
        }
        final AtomicBoolean begun = new AtomicBoolean();
        boolean submitted = false;
        try {
            thread.execute(() -> {
                if (begun.compareAndSet(false, true)) {
                    answerSearches();
                }
            });
            submitted = true;
        } catch (RejectedExecutionException e) {
            LOG.debug("The port is closing: catalogue not read", e);
        } catch (RuntimeException | Error e) {
            errors.report("starting to read the catalogue for a client", e);
        } finally {
            // Later searches rely on this one. A task that failed to start a thread may still be queued: then it does
            // nothing.
            if (!submitted && begun.compareAndSet(false, true)) {
                answer(takeSearches(), null);
            }
        }
    }

    /** The oldest first; allocates nothing. */
    private @Nullable Search takeSearches() {
        Search newer = null;
        Search each = searches.getAndSet(null);
        while (each != null) {
            final Search older = each.next;
            each.next = newer;
            newer = each;
            each = older;
        }
        return newer;
    }

    private void answerSearches() {
        final Search taken = takeSearches(); // before the reading: a later search needs another one
        Read read = null;
        try {
            read = readAgain(present);
        } finally {
            answer(taken, read);
        }
    }

    /** @param read null if the catalogue was not read */
    private void answer(@Nullable Search first, @Nullable Read read) {
        final Reading reading = cacheId -> {
            final Read now = present;
            // A reading for earlier roles does not decide about caches unknown to the present ones.
            return now.known.contains(cacheId) ? Status.OK : now == read ? Status.UNKNOWN_CACHE : Status.UNREACHABLE;
        };
        for (Search each = first; each != null; each = each.next) {
            try {
                each.then.accept(reading);
            } catch (RuntimeException | Error e) {
                errors.report("delivering a catalogue reading", e);
            }
        }
    }

    /** The result of the reading; null if the catalogue is unreachable. */
    private @Nullable Read readAgain(Read asked) {
        if (asked.catalogue == null) {
            return null;
        }
        try {
            asked.known.add(asked.catalogue.list());
            return asked;
        } catch (ConfigurationStoreException e) {
            errors.reportExpected("the catalogue for a client", e);
            return null;
        } catch (RuntimeException | Error e) {
            if (asked == present) {
                errors.report("the catalogue for a client", e);
            } // else it belongs to an earlier role term
            return null;
        }
    }

    private Answer limited(Answer answer) {
        return isTooLong(answer)
                ? refusal(Status.TOO_LARGE, "the answer of the catalogue is longer than " + maxFrame + " bytes")
                : answer;
    }

    private boolean isTooLong(Answer answer) {
        long length = 1 << 10;
        for (Cache cache : answer.caches()) {
            length += 64 + 3L * cache.name().length() + cache.descriptor().length;
        }
        return length > maxFrame;
    }

    private Answer answer(Asked asked, Cache cache) {
        final Read now = present;
        return now.catalogue == null ? RESTARTING : answer(now, now.catalogue, asked, cache);
    }

    private Answer answer(Read now, ClientCatalogue catalogue, Asked asked, Cache cache) {
        try {
            return switch (asked) {
                case FIND -> found(now, catalogue.find(cache.name()));
                case CREATE -> found(now, catalogue.create(cache.name(), cache.descriptor()));
                case LIMIT -> number(catalogue.limit(cache.name(), cache.limit()) ? 1 : 0);
                case EVICTIONS -> number(catalogue.evictions(cache.id()));
                case OBJECTS -> number(catalogue.objects(cache.id()));
                case BYTES -> number(catalogue.bytes(cache.id()));
                case DESTROY -> number(catalogue.destroy(cache.name()) ? 1 : 0);
                case LIST ->
                    new Answer(
                            Status.OK,
                            0,
                            catalogue.list().stream()
                                    .map(CatalogueThread::cacheOf)
                                    .toList(),
                            "");
            };
        } catch (IllegalArgumentException e) {
            return refusal(Status.BAD_REQUEST, String.valueOf(e.getMessage()));
        } catch (CacheIdsUsedException e) {
            return refusal(Status.TOO_LARGE, String.valueOf(e.getMessage()));
        } catch (ConfigurationStoreException e) {
            errors.reportExpected("the catalogue for a client", e);
            return refusal(Status.CLOSED, "the catalogue is unavailable: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            if (now == present) {
                errors.report("the catalogue for a client", e);
            } // else it belongs to an earlier role term
            return refusal(Status.CLOSED, "the catalogue is unavailable: " + e);
        }
    }

    private static Answer number(long number) {
        return new Answer(Status.OK, number, List.of(), "");
    }

    private static Answer found(Read now, @Nullable StoredCache cache) {
        if (cache != null) {
            now.known.add(List.of(cache));
        }
        return new Answer(Status.OK, 0, cache == null ? List.of() : List.of(cacheOf(cache)), "");
    }

    private static Cache cacheOf(StoredCache cache) {
        return new Cache(
                cache.id(), cache.name(), cache.descriptor(), cache.limit() == null ? CacheLimit.NONE : cache.limit());
    }

    /** Answers pending requests; waits for them at most that long. */
    public void close(long waitNs) throws InterruptedException {
        thread.shutdown();
        if (!thread.awaitTermination(waitNs, TimeUnit.NANOSECONDS)) {
            thread.shutdownNow();
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
