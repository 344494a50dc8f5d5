package org.rowankv.jdbc.table;

import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.mapping.MappedColumn;

/**
 * The rows of a scan whose keys have some given parts. H2 opens a cursor for each value of an IN list and checks the list
 * alone, so that a row in several of these would be found several times. Used by one thread.
 */
final class PartCursor implements Cursor {
    private final SessionLocal session;
    private final Cursor scan;
    private final @Nullable SearchRow wanted;
    private final List<MappedColumn> given;

    PartCursor(SessionLocal session, Cursor scan, @Nullable SearchRow wanted, List<MappedColumn> given) {
        this.session = session;
        this.scan = scan;
        this.wanted = wanted;
        this.given = given;
    }

    @Override
    public boolean next() {
        while (scan.next()) {
            if (fits(scan.getSearchRow())) {
                return true;
            }
        }
        return false;
    }

    private boolean fits(SearchRow row) {
        for (MappedColumn each : given) {
            if (wanted != null && session.compare(row.getValue(each.place()), wanted.getValue(each.place())) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Row get() {
        return scan.get();
    }

    @Override
    public SearchRow getSearchRow() {
        return scan.getSearchRow();
    }

    @Override
    public boolean previous() {
        return scan.previous();
    }
}
