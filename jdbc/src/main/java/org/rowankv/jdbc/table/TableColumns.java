package org.rowankv.jdbc.table;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.h2.table.Column;
import org.h2.value.TypeInfo;
import org.rowankv.jdbc.mapping.CacheMapping;

/** The columns of a cache as H2 has them. Stateless. */
final class TableColumns {
    static final String VERSION = "_VERSION";

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

    /** The visible ones and the hidden version. */
    static Column[] withVersion(List<Column> visible) {
        final List<Column> columns = new ArrayList<>(visible);
        String name = VERSION;
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).getName().equalsIgnoreCase(name)) {
                name = '_' + name;
                i = -1;
            }
        }
        final Column version = new Column(name, TypeInfo.TYPE_BIGINT);
        version.setVisible(false);
        columns.add(version);
        return columns.toArray(new Column[0]);
    }
}
