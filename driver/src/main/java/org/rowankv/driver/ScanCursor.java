package org.rowankv.driver;

import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;

/**
 * Walks the live objects of a cache page by page. A position is a place in hash order, so a cursor survives the growth
 * of an index. Used by one thread at a time.
 */
public final class ScanCursor implements Iterator<ScanPage.Entry> {
    private static final int PAGE = 256;

    private final Session session;
    private final int cacheId;
    private final int shardCount;
    private final boolean withValues;
    private int shard;
    private long position;
    private Iterator<ScanPage.Entry> page = Collections.emptyIterator();

    ScanCursor(Session session, int cacheId, int shardCount, boolean withValues) {
        this.session = session;
        this.cacheId = cacheId;
        this.shardCount = shardCount;
        this.withValues = withValues;
    }

    @Override
    public boolean hasNext() {
        while (!page.hasNext()) {
            if (shard == shardCount) {
                return false;
            }
            final ScanPage next = session.scan(cacheId, shard, position, PAGE, withValues);
            page = next.entries().iterator();
            position = next.nextPosition();
            if (next.last()) {
                shard++;
                position = 0;
            }
        }
        return true;
    }

    @Override
    public ScanPage.Entry next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the scan is at its end");
        }
        return page.next();
    }
}
