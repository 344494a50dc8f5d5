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
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.frontend.CatalogueRequests;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the catalogue for the clients: on a thread of its own, since that may block, and only while there is a question. */
public final class CatalogueThread implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CatalogueThread.class);
    /** Questions of all connections together. Of one, {@link CatalogueRequests#MAX_WAITING}. */
    private static final int MAX_WAITING = 1_024;

    /** What a reading of the catalogue says of caches that were not known before it. */
    public interface Reading {
        /** OK if the cache is known now, UNKNOWN_CACHE if the catalogue was read without it, else UNREACHABLE. Any thread. */
        Status of(int cacheId);
    }

    /** Waits for a reading of the catalogue. */
    private static final class Search {
        private final Consumer<Reading> then;
        /** The one that came just before it, then the one that came just after it. */
        private @Nullable Search next;

        Search(Consumer<Reading> then) {
            this.then = then;
        }
    }

    private static final Answer BUSY = refusal(Status.FULL, "too many questions wait for the catalogue");

    private static final Answer AWAY = refusal(Status.CLOSED, "the server restarts; retry");

    /** What was read of the catalogue of one start of the roles. */
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
    /** That wait for a reading to begin, the newest first. The one that finds none before it sees to the reading. */
    private final AtomicReference<@Nullable Search> searches = new AtomicReference<>();

    private final ErrorLog errors;
    private final int maxFrame;
    private final AtomicInteger waiting = new AtomicInteger();
    /** Its queue holds those that wait, and one reading of the catalogue for searches, which no question displaces. */
    private final ThreadPoolExecutor thread;

    public CatalogueThread(ClientCatalogue catalogue, ErrorLog errors, int maxFrame) {
        this(catalogue, errors, maxFrame, Thread::new);
    }

    /** As above, with threads from elsewhere. */
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

    /** Whom to ask from now on; null: nobody. What is being asked of another goes on. */
    public void use(@Nullable ClientCatalogue newCatalogue) {
        present = new Read(newCatalogue);
    }

    private static Answer refusal(Status status, String text) {
        return new Answer(status, 0, List.of(), text);
    }

    /**
     * Asks the catalogue.
     *
     * @param then gets the answer: on the catalogue's thread, or here if there is no room for the question
     */
    public void ask(Asked asked, Cache cache, Consumer<Answer> then) {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            then.accept(BUSY);
            return;
        }
        boolean handed = false;
        try {
            thread.execute(() -> {
                waiting.decrementAndGet();
                then.accept(limited(answer(asked, cache)));
            });
            handed = true;
        } catch (RejectedExecutionException e) {
            then.accept(BUSY); // the port is being closed
        } finally {
            if (!handed) {
                waiting.decrementAndGet();
            }
        }
    }

    /** Whether the catalogue has given out that id, as far as it was read. Any thread. */
    public boolean isKnown(int cacheId) {
        return present.known.contains(cacheId);
    }

    /**
     * Reads the catalogue again, since an id is not known: once for all that ask before the reading begins. Any thread.
     *
     * @param then gets what was read, once, even if nothing can be read now; on the catalogue's thread, or here
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
        boolean handed = false;
        try {
            thread.execute(() -> {
                if (begun.compareAndSet(false, true)) {
                    answerSearches();
                }
            });
            handed = true;
        } catch (RejectedExecutionException e) {
            LOG.debug("The port is being closed: the catalogue is not read", e);
        } catch (RuntimeException | Error e) {
            errors.report("beginning to read the catalogue for a client", e);
        } finally {
            // Later searches rely on this one. A task that failed to get a thread may still be queued: it does nothing
            // then.
            if (!handed && begun.compareAndSet(false, true)) {
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
            // What other roles have read says nothing of a cache that these do not know.
            return now.known.contains(cacheId) ? Status.OK : now == read ? Status.UNKNOWN_CACHE : Status.UNREACHABLE;
        };
        for (Search each = first; each != null; each = each.next) {
            try {
                each.then.accept(reading);
            } catch (RuntimeException | Error e) {
                errors.report("telling what the catalogue has", e);
            }
        }
    }

    /** What was read; null if the catalogue cannot be read now. */
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
            } // else it is that of a start which has ended
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
        return now.catalogue == null ? AWAY : answer(now, now.catalogue, asked, cache);
    }

    private Answer answer(Read now, ClientCatalogue catalogue, Asked asked, Cache cache) {
        try {
            return switch (asked) {
                case FIND -> found(now, catalogue.find(cache.name()));
                case CREATE -> found(now, catalogue.create(cache.name(), cache.descriptor()));
                case LIMIT -> number(catalogue.limit(cache.name(), cache.limit()) ? 1 : 0);
                case EVICTIONS -> number(catalogue.evictions(cache.id()));
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
        } catch (ConfigurationStoreException e) {
            errors.reportExpected("the catalogue for a client", e);
            return refusal(Status.CLOSED, "the catalogue cannot be used now: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            if (now == present) {
                errors.report("the catalogue for a client", e);
            } // else it is that of a start which has ended
            return refusal(Status.CLOSED, "the catalogue cannot be used now: " + e);
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

    /** What was asked is still answered; waits for that, at most so long. */
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
