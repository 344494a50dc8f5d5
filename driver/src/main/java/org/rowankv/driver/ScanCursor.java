package org.rowankv.driver;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.session.RetrySchedule;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;

/**
 * Iterator over the live objects of a cache, page by page. Its position is in hash order, so it survives the growth of
 * an index. Used by one thread at a time.
 */
public final class ScanCursor implements Iterator<ScanPage.Entry> {
    private static final int PAGE = 256;

    private final Session session;
    private final Consumer<Request> reader;
    private final Clock clock;
    private final long pageNs;
    private final RetrySchedule schedule;
    private final int cacheId;
    private final int shardCount;
    private final boolean withValues;
    private int shard;
    private long position;
    private Page page = new Page(List.of());
    private ScanPage.@Nullable Entry upcoming;

    /** The entries of a page that are not returned yet. */
    private static final class Page {
        private final List<ScanPage.Entry> entries;
        private int next;

        Page(List<ScanPage.Entry> entries) {
            this.entries = entries;
        }

        boolean hasNext() {
            return next < entries.size();
        }

        ScanPage.Entry peek() {
            return entries.get(next);
        }

        ScanPage.Entry next() {
            return entries.get(next++);
        }
    }

    /**
     * @param reader executes reads
     * @param pageNs longest duration of the attempts to read a page
     */
    ScanCursor(
            Session session,
            Consumer<Request> reader,
            Clock clock,
            long pageNs,
            int cacheId,
            int shardCount,
            boolean withValues) {
        this.reader = reader;
        this.session = session;
        this.clock = clock;
        this.pageNs = pageNs;
        this.schedule = new RetrySchedule(session, clock);
        this.cacheId = cacheId;
        this.shardCount = shardCount;
        this.withValues = withValues;
    }

    @Override
    public boolean hasNext() {
        while (upcoming == null) {
            if (page.hasNext()) {
                upcoming = withValue(page.next());
            } else if (shard == shardCount) {
                return false;
            } else {
                readNextPage();
            }
        }
        return true;
    }

    /** Whether the next object needs no further request; false also for a value that is too long for a page. */
    public boolean isBuffered() {
        if (upcoming == null && page.hasNext()) {
            final ScanPage.Entry next = page.peek();
            if (!withValues || next.value() != null) {
                upcoming = page.next();
            }
        }
        return upcoming != null;
    }

    private void readNextPage() {
        final ScanPage next = nextPage();
        page = new Page(next.entries());
        position = next.nextPosition();
        if (next.last()) {
            shard++;
            position = 0;
        }
    }

    private ScanPage nextPage() {
        schedule.begin(clock.nanoTime() + pageNs);
        while (true) {
            try {
                return session.scan(cacheId, shard, position, PAGE, withValues);
            } catch (RowanException e) {
                final long pauseNs = schedule.afterAnswer(e.status());
                if (pauseNs == RetrySchedule.NEVER) {
                    throw e;
                }
                RetrySchedule.pause(pauseNs);
            }
        }
    }

    /**
     * Completes an entry whose value was too long for the page.
     *
     * @return null if the object no longer exists
     * @throws RowanException if the read ends in any other way: the object may be live, so the scan must not omit it
     */
    private ScanPage.@Nullable Entry withValue(ScanPage.Entry entry) {
        if (!withValues || entry.value() != null) {
            return entry;
        }
        final Request get = new Request().get(cacheId, entry.key(), 0, entry.key().length);
        reader.accept(get);
        return switch (get.status()) {
            case OK -> new ScanPage.Entry(entry.key(), get.resultBytes(), get.version());
            case NOT_FOUND -> null;
            default ->
                throw new RowanException(
                        get.status(),
                        "the scan of shard " + get.shard() + " failed: the read of a value ended with " + get.status());
        };
    }

    @Override
    public ScanPage.Entry next() {
        final ScanPage.Entry next = hasNext() ? upcoming : null;
        if (next == null) {
            throw new NoSuchElementException("the scan is at its end");
        }
        upcoming = null;
        return next;
    }
}
