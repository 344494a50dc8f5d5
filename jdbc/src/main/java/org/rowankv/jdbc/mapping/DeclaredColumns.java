package org.rowankv.jdbc.mapping;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.h2.table.Column;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The columns that CREATE TABLE has declared, and their form in a cache's descriptor: a line per column of marks, type,
 * precision, scale and name. The only column of the key is the key itself, several are a list; a single other column of
 * the name {@code _VALUE} is the value itself, others are a map. Without a primary key the key is a UUID in a hidden
 * column. Immutable.
 */
public final class DeclaredColumns {
    private static final char OF_KEY = 'K';
    private static final char NULLABLE = 'N';
    private static final char HIDDEN = 'H';
    private static final char NO_MARK = '-';

    private final List<Declared> all;

    /** A type of SQL, and that of the stored objects. Names are part of the form. */
    private enum Type {
        VARCHAR(Value.VARCHAR, StoredType.STRING),
        CHARACTER(Value.CHAR, StoredType.STRING),
        BOOLEAN(Value.BOOLEAN, StoredType.BOOLEAN),
        TINYINT(Value.TINYINT, StoredType.BYTE),
        SMALLINT(Value.SMALLINT, StoredType.SHORT),
        INTEGER(Value.INTEGER, StoredType.INTEGER),
        BIGINT(Value.BIGINT, StoredType.LONG),
        REAL(Value.REAL, StoredType.FLOAT),
        DOUBLE(Value.DOUBLE, StoredType.DOUBLE),
        NUMERIC(Value.NUMERIC, StoredType.BIG_DECIMAL),
        DECFLOAT(Value.DECFLOAT, StoredType.BIG_DECIMAL),
        VARBINARY(Value.VARBINARY, StoredType.BYTES),
        UNIQUE_ID(Value.UUID, StoredType.UNIQUE_ID),
        DATE(Value.DATE, StoredType.LOCAL_DATE),
        TIME(Value.TIME, StoredType.LOCAL_TIME),
        TIMESTAMP(Value.TIMESTAMP, StoredType.LOCAL_DATE_TIME),
        TIMESTAMP_WITH_ZONE(Value.TIMESTAMP_TZ, StoredType.INSTANT),
        JSON(Value.JSON, StoredType.JSON_TEXT);

        private final int valueType;
        private final StoredType stored;

        Type(int valueType, StoredType stored) {
            this.valueType = valueType;
            this.stored = stored;
        }
    }

    private record Declared(Type type, long precision, int scale, String marks, String name) {
        boolean has(char mark) {
            return marks.indexOf(mark) >= 0;
        }

        TypeInfo sqlType() {
            return TypeInfo.getTypeInfo(type.valueType, precision, scale, null);
        }

        MappedColumn at(int place, List<String> path) {
            return new MappedColumn(name, place, path, type.stored, sqlType(), has(NULLABLE), "");
        }
    }

    private DeclaredColumns(List<Declared> all) {
        this.all = List.copyOf(all);
    }

    /** Whether the column has a type that can be stored. */
    public static boolean canHold(Column column) {
        return typeOf(column.getType().getValueType()) != null
                && column.getName().indexOf('\n') < 0;
    }

    /**
     * The columns of a new table, each of which {@link #canHold}.
     *
     * @param keys names of those of the primary key; empty: {@code _KEY} is it, or a hidden one
     */
    public static DeclaredColumns of(List<Column> columns, List<String> keys) {
        final List<Declared> all = new ArrayList<>();
        boolean hasKey = false;
        for (Column column : columns) {
            final Type type = typeOf(column.getType().getValueType());
            if (type == null) {
                throw new IllegalArgumentException("the column " + column.getName() + " has a type that is not stored");
            }
            final boolean isKey = keys.isEmpty()
                    ? column.getName().equalsIgnoreCase(ColumnFinder.KEY)
                    : keys.contains(column.getName());
            hasKey |= isKey;
            all.add(new Declared(
                    type,
                    column.getType().getPrecision(),
                    column.getType().getScale(),
                    (isKey ? OF_KEY : NO_MARK) + (column.isNullable() && !isKey ? "" + NULLABLE : ""),
                    column.getName()));
        }
        if (!hasKey) {
            final TypeInfo uuid = TypeInfo.TYPE_UUID;
            all.add(new Declared(
                    Type.UNIQUE_ID,
                    uuid.getPrecision(),
                    uuid.getScale(),
                    "" + OF_KEY + NULLABLE + HIDDEN,
                    ColumnFinder.KEY));
        }
        return new DeclaredColumns(all);
    }

    private static @Nullable Type typeOf(int valueType) {
        for (Type type : Type.values()) {
            if (type.valueType == valueType) {
                return type;
            }
        }
        return switch (valueType) {
            case Value.CLOB -> Type.VARCHAR;
            case Value.BLOB, Value.BINARY -> Type.VARBINARY;
            default -> null;
        };
    }

    /** Reads what {@link #toString} has written. */
    public static DeclaredColumns parse(String text) {
        final List<Declared> all = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            final String[] parts = line.split(" ", 5);
            all.add(new Declared(
                    Type.valueOf(parts[1]), Long.parseLong(parts[2]), Integer.parseInt(parts[3]), parts[0], parts[4]));
        }
        return new DeclaredColumns(all);
    }

    @Override
    public String toString() {
        final List<String> lines = new ArrayList<>();
        all.forEach(each ->
                lines.add(each.marks + ' ' + each.type + ' ' + each.precision + ' ' + each.scale + ' ' + each.name));
        return String.join("\n", lines);
    }

    /** The columns of the table. */
    public List<Column> columns() {
        final List<Column> columns = new ArrayList<>();
        for (Declared each : all) {
            final Column column = new Column(each.name, each.sqlType());
            column.setNullable(each.has(NULLABLE));
            column.setVisible(!each.has(HIDDEN));
            columns.add(column);
        }
        return columns;
    }

    /** Whether new rows need a key that their INSERT does not give. */
    public boolean hasHiddenKey() {
        return all.stream().anyMatch(each -> each.has(HIDDEN));
    }

    /** How entries hold them. */
    public CacheMapping mapping() {
        final List<MappedColumn> keys = new ArrayList<>();
        final List<MappedColumn> values = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            final Declared each = all.get(i);
            (each.has(OF_KEY) ? keys : values).add(each.at(i, List.of(each.name)));
        }
        final boolean isScalar = values.size() == 1 && values.get(0).name().equalsIgnoreCase(ColumnFinder.VALUE);
        return new CacheMapping(
                keys.size() == 1 ? KeyForm.SCALAR : KeyForm.PARTS,
                "",
                List.copyOf(keys),
                isScalar ? ValueForm.SCALAR : ValueForm.MAP,
                List.copyOf(values),
                Map.of());
    }

    /** The class of the keys for the cache API. */
    public String keyClass() {
        final CacheMapping mapping = mapping();
        return mapping.keyForm() == KeyForm.PARTS
                ? List.class.getName()
                : mapping.keys().get(0).type().className();
    }

    /** The class of the values for the cache API. */
    public String valueClass() {
        final CacheMapping mapping = mapping();
        return mapping.valueForm() == ValueForm.MAP
                ? Map.class.getName()
                : mapping.columns().get(0).type().className();
    }
}
