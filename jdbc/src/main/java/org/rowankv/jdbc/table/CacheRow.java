package org.rowankv.jdbc.table;

import org.h2.result.DefaultRow;
import org.h2.result.Row;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/** A row that has the bytes of its entry. What its read has left out is read when one of these columns is asked for. */
final class CacheRow extends DefaultRow {
    private final CacheTable table;
    private final byte[] keyBytes;
    private final byte @Nullable [] valueBytes;

    CacheRow(CacheTable table, Value[] values, byte[] keyBytes, byte @Nullable [] valueBytes) {
        super(values);
        this.table = table;
        this.keyBytes = keyBytes;
        this.valueBytes = valueBytes;
    }

    byte[] key() {
        return keyBytes;
    }

    /** Null in a scan of keys. */
    byte @Nullable [] value() {
        return valueBytes;
    }

    /** A change copies the columns that it does not name: these need no read. */
    void leaveOutExpiry() {
        final int place = TableColumns.expires(data.length);
        if (data[place] == null) {
            data[place] = ValueNull.INSTANCE;
        }
    }

    @Override
    public Value getValue(int column) {
        if (column >= 0 && data[column] == null) {
            final Row whole = table.get(keyBytes, true);
            for (int i = 0; i < data.length; i++) {
                if (data[i] == null) {
                    data[i] = whole == null ? ValueNull.INSTANCE : whole.getValue(i);
                }
            }
        }
        return super.getValue(column);
    }
}
