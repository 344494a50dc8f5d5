package org.rowankv.jdbc.table;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Request;

/**
 * Cursor over a cache, page by page: no further page is read than the rows asked for. Pages have no ends of lifetimes: with
 * these, they are of keys, and the entries are read in windows. Used by one thread.
 */
final class CacheCursor extends UnorderedCursor {
    private static final int ROWS_PER_CHECK = 64;

    private final CacheTable table;
    private final SessionLocal session;
    private final StatementScope scope;
    private final ScanCursor cursor;
    private final boolean withValues;
    /** Of the reads of entries; null if the pages have what is needed. */
    private final @Nullable ReadWindow window;

    /** Takes the rows of the scan; null if they are not kept. */
    private @Nullable KeptRows kept;

    /** Rows that are read and not asked for yet. */
    private final ArrayDeque<Row> ahead = new ArrayDeque<>();
    /** Comes after those. */
    private @Nullable DbException failure;

    private int rowsToCheck;

    CacheCursor(
            CacheTable table,
            SessionLocal session,
            StatementScope scope,
            ScanCursor cursor,
            boolean withValues,
            boolean withExpiry,
            @Nullable KeptRows kept) {
        this.table = table;
        this.session = session;
        this.scope = scope;
        this.cursor = cursor;
        this.withValues = withValues;
        this.window = withExpiry ? new ReadWindow() : null;
        this.kept = kept;
    }

    @Override
    public boolean next() {
        if (rowsToCheck-- == 0) {
            rowsToCheck = ROWS_PER_CHECK;
            scope.read(ROWS_PER_CHECK);
            session.checkCanceled();
            scope.checkCancelled();
        }
        try {
            while (ahead.isEmpty() && failure == null && window != null && cursor.hasNext()) {
                readEntries(window);
            }
            if (!ahead.isEmpty()) {
                current = ahead.remove();
                return true;
            }
            if (failure != null) {
                throw failure;
            }
            if (cursor.hasNext()) {
                current = read();
                return true;
            }
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
        current = null;
        if (kept != null) {
            kept.end();
        }
        return false;
    }

    private Row read() {
        final ScanPage.Entry entry = cursor.next();
        final Row row = table.rowOf(entry.key(), withValues ? entry.value() : null, entry.version(), null);
        keep(row, entry.key().length + valueLength(entry));
        return row;
    }

    private void keep(Row row, int bytes) {
        if (kept != null && !kept.add(row, bytes)) {
            kept = null;
        }
    }

    /** Reads entries of the present page, those that are there no more left out. */
    private void readEntries(ReadWindow together) {
        final List<byte[]> keys = new ArrayList<>();
        do {
            keys.add(cursor.next().key());
        } while (keys.size() < together.size() && cursor.isBuffered());
        final List<Request> reads = table.getAll(keys, true, withValues);
        together.read(reads);
        for (Request each : reads) {
            final Row row = table.rowOf(each);
            if (row != null) {
                keep(row, each.keyLength() + Math.max(0, each.resultLength()));
                ahead.add(row);
            }
        }
    }

    /** The rows that come next, up to that many, as far as the present page has them. */
    List<Row> ahead(int most) {
        try {
            while (window == null && failure == null && ahead.size() < most && cursor.isBuffered()) {
                ahead.add(read());
            }
        } catch (DbException e) {
            failure = e;
        }
        return ahead.stream().limit(most).toList();
    }

    /** Whether the row is the one that was returned last. */
    boolean isAt(@Nullable Row row) {
        return row instanceof CacheRow asked
                && current instanceof CacheRow present
                && Arrays.equals(asked.key(), present.key());
    }

    private static int valueLength(ScanPage.Entry entry) {
        final byte[] value = entry.value();
        return value == null ? 0 : value.length;
    }
}
