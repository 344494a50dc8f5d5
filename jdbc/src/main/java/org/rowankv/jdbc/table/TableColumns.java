package org.rowankv.jdbc.table;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.h2.table.Column;
import org.h2.util.JSR310Utils;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.rowankv.jdbc.mapping.CacheMapping;
import org.rowankv.jdbc.mapping.StoredType;
import org.rowankv.protocol.Request;

/** The columns of a cache as H2 has them. Stateless. */
final class TableColumns {
    static final String VERSION = "_VERSION";
    static final String EXPIRES = "_EXPIRES";
    private static final int HIDDEN = 2;

    private TableColumns() {}

    /** Those of the key, and those of the value. */
    static List<Column> of(CacheMapping mapping) {
        final List<Column> columns = new ArrayList<>();
        Stream.concat(mapping.keys().stream(), mapping.columns().stream()).forEach(each -> {
            final Column column = new Column(each.name(), each.sqlType());
            column.setNullable(each.nullable());
            columns.add(column);
        });
        return columns;
    }

    /** The visible ones, then the hidden end of the lifetime and the hidden version. */
    static Column[] withHidden(List<Column> visible) {
        final List<Column> columns = new ArrayList<>(visible);
        columns.add(hidden(EXPIRES, StoredType.INSTANT.sqlType(), visible));
        columns.add(hidden(VERSION, TypeInfo.TYPE_BIGINT, visible));
        return columns.toArray(new Column[0]);
    }

    private static Column hidden(String named, TypeInfo type, List<Column> visible) {
        String name = named;
        for (int i = 0; i < visible.size(); i++) {
            if (visible.get(i).getName().equalsIgnoreCase(name)) {
                name = '_' + name;
                i = -1;
            }
        }
        final Column column = new Column(name, type);
        column.setVisible(false);
        return column;
    }

    /** The place of the end of the lifetime in rows of that many columns. */
    static int expires(int columns) {
        return columns - HIDDEN;
    }

    /** The value of {@link #EXPIRES}: null if it has no end. */
    static Value expires(Request read) {
        return read.expiryMs() == Long.MAX_VALUE
                ? ValueNull.INSTANCE
                : JSR310Utils.instantToValue(Instant.ofEpochMilli(read.expiryMs()));
    }
}
