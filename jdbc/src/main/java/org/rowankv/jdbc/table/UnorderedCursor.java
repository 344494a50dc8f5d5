package org.rowankv.jdbc.table;

import org.h2.index.Cursor;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.jspecify.annotations.Nullable;

/** Rows in no order, so that there is no way back. Used by one thread. */
abstract class UnorderedCursor implements Cursor {
    /** Null before the first row and behind the last. */
    @Nullable
    Row current;

    @Override
    public final Row get() {
        if (current == null) {
            throw DbException.getInternalError("the cursor is at no row");
        }
        return current;
    }

    @Override
    public final SearchRow getSearchRow() {
        return get();
    }

    @Override
    public final boolean previous() {
        throw DbException.getInternalError("the rows have no order");
    }
}
