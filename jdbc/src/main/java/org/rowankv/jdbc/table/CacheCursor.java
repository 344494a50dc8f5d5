package org.rowankv.jdbc.table;

import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;

/** Cursor over a cache, page by page: no further page is read than the rows asked for. Used by one thread. */
final class CacheCursor implements Cursor {
    private static final int ROWS_PER_CHECK = 64;

    private final CacheTable table;
    private final SessionLocal session;
    private final StatementScope scope;
    private final ScanCursor cursor;
    private final boolean withValues;
    /** Takes the rows of the scan; null if they are not kept. */
    private @Nullable KeptRows kept;

    private @Nullable Row current;
    private int rowsToCheck;

    CacheCursor(
            CacheTable table,
            SessionLocal session,
            StatementScope scope,
            ScanCursor cursor,
            boolean withValues,
            @Nullable KeptRows kept) {
        this.table = table;
        this.session = session;
        this.scope = scope;
        this.cursor = cursor;
        this.withValues = withValues;
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
            if (!cursor.hasNext()) {
                current = null;
                if (kept != null) {
                    kept.end();
                }
                return false;
            }
            final ScanPage.Entry entry = cursor.next();
            current = table.rowOf(entry.key(), withValues ? entry.value() : null, entry.version());
            if (kept != null && !kept.add(current, entry.key().length + valueLength(entry))) {
                kept = null;
            }
            return true;
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    private static int valueLength(ScanPage.Entry entry) {
        final byte[] value = entry.value();
        return value == null ? 0 : value.length;
    }

    @Override
    public Row get() {
        if (current == null) {
            throw DbException.getInternalError("the cursor is at no row");
        }
        return current;
    }

    @Override
    public SearchRow getSearchRow() {
        return get();
    }

    @Override
    public boolean previous() {
        throw DbException.getInternalError("a scan has no order");
    }
}
