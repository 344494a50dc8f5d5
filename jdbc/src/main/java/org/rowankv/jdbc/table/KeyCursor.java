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
    private final CacheTable table;
    private final boolean withExpiry;
    private final ReadWindow together = new ReadWindow();
    private final Iterator<byte[]> keys;
    private final ArrayDeque<Row> read = new ArrayDeque<>();

    KeyCursor(CacheTable table, Collection<byte[]> keys, boolean withExpiry) {
        this.table = table;
        this.withExpiry = withExpiry;
        this.keys = keys.iterator();
    }

    @Override
    public boolean next() {
        while (read.isEmpty() && keys.hasNext()) {
            final List<byte[]> window = new ArrayList<>();
            while (window.size() < together.size() && keys.hasNext()) {
                window.add(keys.next());
            }
            final List<Request> reads = table.getAll(window, withExpiry, true);
            together.read(reads);
            for (Request each : reads) {
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
