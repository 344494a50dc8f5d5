package org.rowankv.jdbc.table;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.h2.result.Row;
import org.rowankv.protocol.Request;

/** The rows of given keys, many read together. Used by one thread. */
final class KeyCursor extends UnorderedCursor {
    private static final int WINDOW = 64;

    private final CacheTable table;
    private final Iterator<byte[]> keys;
    private final ArrayDeque<Row> read = new ArrayDeque<>();

    KeyCursor(CacheTable table, Collection<byte[]> keys) {
        this.table = table;
        this.keys = keys.iterator();
    }

    @Override
    public boolean next() {
        while (read.isEmpty() && keys.hasNext()) {
            final List<byte[]> window = new ArrayList<>();
            while (window.size() < WINDOW && keys.hasNext()) {
                window.add(keys.next());
            }
            for (Request each : table.getAll(window)) {
                final Row row = table.rowOf(each);
                if (row != null) {
                    read.add(row);
                }
            }
        }
        current = read.poll();
        return current != null;
    }
}
