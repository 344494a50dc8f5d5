package org.rowankv.jdbc.table;

import org.h2.result.DefaultRow;
import org.h2.result.Row;
import org.h2.value.Value;
import org.h2.value.ValueNull;

/** A row that has the bytes of its key. One of a scan of keys reads the value's columns when one is asked for. */
final class CacheRow extends DefaultRow {
    private final CacheTable table;
    private final byte[] keyBytes;

    CacheRow(CacheTable table, Value[] values, byte[] keyBytes) {
        super(values);
        this.table = table;
        this.keyBytes = keyBytes;
    }

    byte[] key() {
        return keyBytes;
    }

    @Override
    public Value getValue(int column) {
        if (column >= 0 && data[column] == null) {
            final Row whole = table.get(keyBytes);
            for (int i = 0; i < data.length; i++) {
                if (data[i] == null) {
                    data[i] = whole == null ? ValueNull.INSTANCE : whole.getValue(i);
                }
            }
        }
        return super.getValue(column);
    }
}
