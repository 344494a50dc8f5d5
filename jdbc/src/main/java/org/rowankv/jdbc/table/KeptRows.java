package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;

/**
 * The rows of a scan, for further scans of the same query: a join without a key scans its inner table once for each
 * outer row. Only of small caches, so that memory is bounded. Used by one session.
 */
final class KeptRows {
    private static final int MOST = 4_096;
    private static final int MOST_BYTES = 1 << 22;
    private static final int ROWS_PER_CHECK = 256;

    private final long dataId;
    private final List<Row> rows = new ArrayList<>();
    private long bytes;
    private boolean isWhole;
    private int rowsToCheck;

    /** @param dataId of the execution whose query scans */
    KeptRows(long dataId) {
        this.dataId = dataId;
    }

    /** Whether these are all rows, as that execution has read them. */
    boolean serves(long execution) {
        return isWhole && dataId == execution;
    }

    /** Adds a row; false if there are too many, and none is kept. */
    boolean add(Row row, int entryBytes) {
        bytes += entryBytes;
        if (rows.size() == MOST || bytes > MOST_BYTES) {
            rows.clear();
            return false;
        }
        return rows.add(row);
    }

    /** The last row was added. */
    void end() {
        isWhole = true;
    }

    Cursor cursor(SessionLocal session, StatementScope scope) {
        return new Cursor() {
            private int next;

            @Override
            public boolean next() {
                if (rowsToCheck-- == 0) {
                    rowsToCheck = ROWS_PER_CHECK;
                    session.checkCanceled();
                    scope.checkCancelled();
                }
                return next++ < rows.size();
            }

            @Override
            public Row get() {
                return rows.get(next - 1);
            }

            @Override
            public SearchRow getSearchRow() {
                return get();
            }

            @Override
            public boolean previous() {
                throw DbException.getInternalError("a scan has no order");
            }
        };
    }
}
