package org.rowankv.jdbc.table;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.cache.expiry.EternalExpiryPolicy;
import org.h2.command.CommandInterface;
import org.h2.command.Prepared;
import org.h2.command.dml.Update;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.LocalResult;
import org.h2.result.Row;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.h2.value.ValueUuid;
import org.jspecify.annotations.Nullable;
import org.rowankv.jdbc.mapping.CacheMapping;
import org.rowankv.jdbc.mapping.MappedColumn;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;

/**
 * Changes of a cache's rows: each one conditional write, by the version at which the statement has read the row. A row
 * that another writer has changed is noted for another run of the statement. Used by one session.
 */
final class RowChanges {
    private final CacheTable table;
    private final CacheStore store;
    private final StatementScope scope;
    private final String expiryClass;
    private final RandomSource high = SecureSeed.source();
    private final RandomSource low = SecureSeed.source();
    private final List<Row> removals = new ArrayList<>();
    private final List<Write> waiting = new ArrayList<>();
    private long waitingBytes;
    private final Set<ByteBuffer> waitingKeys = new HashSet<>();
    private final Runnable rest = this::flush;
    /** Rows of this statement as they were read. */
    private final Map<ByteBuffer, CacheRow> kept = new HashMap<>();

    private long keptBytes;
    /** Keys of the rows of this statement whose values do not tell their bytes. A row has its place, from 1 on. */
    private final List<byte[]> keys = new ArrayList<>();

    /**
     * A write that is sent with others.
     *
     * @param entry of the batch that it belongs to
     * @param inserted the row that is new; null if one is changed or removed
     * @param canRunAgain whether the statement can, if another writer was faster
     */
    private record Write(
            Request request, int entry, @Nullable Row inserted, boolean canRunAgain) {}

    /** @param expiryClass of the cache's policy */
    RowChanges(CacheTable table, CacheStore store, StatementScope scope, String expiryClass) {
        this.table = table;
        this.store = store;
        this.scope = scope;
        this.expiryClass = expiryClass;
    }

    /** Begins the changes of a statement. */
    void begin() {
        removals.clear();
        keys.clear();
        kept.clear();
        keptBytes = 0;
        if (!scope.isInBatch()) {
            forgetWaiting(); // of a statement that has failed
        }
        scope.nextEntry();
        scope.changing();
    }

    /** Ends them. Writes of a batch are sent with those of its next entries. */
    void end(SessionLocal session) {
        takeRemovals(session);
        if (!scope.isInBatch()) {
            flush();
        }
    }

    /** Sends what waits for others, before something is read that may be of it. */
    void beforeReads() {
        if (!waiting.isEmpty()) {
            flush();
        }
    }

    /** As above, before the entry of a key is read. */
    void beforeRead(byte[] key) {
        if (waitingKeys.contains(ByteBuffer.wrap(key))) {
            flush();
        }
    }

    /** Keeps a row that is to be changed, so that it is not read again, if there is room. */
    void keep(CacheRow row) {
        final byte[] value = row.value();
        if (value != null && kept.size() < ReadWindow.MOST && keptBytes + value.length <= ReadWindow.MOST_BYTES) {
            kept.put(ByteBuffer.wrap(row.key()), row);
            keptBytes += value.length;
        }
    }

    /** Keeps a key until the statement ends, and returns its number. */
    long remember(byte[] key) {
        keys.add(key);
        return keys.size();
    }

    byte @Nullable [] remembered(long number) {
        return number < 1 || number > keys.size() ? null : keys.get((int) number - 1);
    }

    /** Writes the row's entry if its key is absent: with others, at the latest at the end of the statement or batch. */
    void insert(SessionLocal session, Row row) {
        if (!expiryClass.equals(EternalExpiryPolicy.class.getName())) {
            throw SqlErrors.unsupported("INSERT into " + table.getName() + ", whose entries expire by " + expiryClass
                    + ", which only the cache API evaluates, and therefore");
        }
        scope.changing();
        final Value[] values = row.getValueList();
        requireNoVersion(values[values.length - 1]);
        requireNoExpiry(values[TableColumns.expires(values.length)], ValueNull.INSTANCE);
        final CacheMapping mapping = table.mapping();
        final MappedColumn first = mapping.keys().get(0);
        if (!table.getColumn(first.place()).getVisible()
                && row.getValue(first.place()).getValueType() == Value.NULL) {
            row.setValue(
                    first.place(),
                    ValueUuid.get(high.nextLong() & ~0xf000L | 0x4000L, low.nextLong() >>> 2 | 1L << 63));
        }
        final byte[] key;
        final Request request;
        try {
            key = mapping.newKey(values, session);
            if (key == null) {
                throw new IllegalArgumentException("a key is not null");
            }
            final byte[] value = mapping.newValue(values, session);
            request = new Request()
                    .put(table.cacheId(), key, 0, key.length, value, 0, value.length)
                    .when(Condition.IF_ABSENT)
                    .ttl(Ttl.ETERNAL, Ttl.UNCHANGED);
        } catch (IllegalArgumentException e) {
            throw SqlErrors.of(e);
        }
        add(new Write(request, scope.batchEntry(), row, false));
        if (!isInsert(session)) {
            flush();
        }
    }

    private void add(Write write) {
        if (!waitingKeys.add(ByteBuffer.wrap(write.request().key()))) {
            flush(); // requests that are sent together have no order
            waitingKeys.add(ByteBuffer.wrap(write.request().key()));
        }
        waiting.add(write);
        waitingBytes += write.request().valueLength();
        scope.whenBatchEnds(rest);
        if (waiting.size() == ReadWindow.MOST || waitingBytes > ReadWindow.MOST_BYTES) {
            flush();
        }
    }

    /** Others may read what they have written before they end. */
    private static boolean isInsert(SessionLocal session) {
        final int type = session.getCurrentCommand() == null
                ? CommandInterface.UNKNOWN
                : session.getCurrentCommand().getCommandType();
        return type == CommandInterface.INSERT || type == CommandInterface.CREATE_TABLE;
    }

    /** Sends what waits; throws for the first write that fails, or notes it for its entry of the batch. */
    private void flush() {
        final List<Write> all = List.copyOf(waiting);
        forgetWaiting();
        try {
            if (all.size() == 1) {
                store.run(all.get(0).request());
            } else {
                store.executeAll(
                        table.cacheId(), all.stream().map(Write::request).toList());
            }
        } catch (DbException e) {
            all.forEach(each -> scope.fail(each.entry(), e));
            return;
        }
        for (Write each : all) {
            try {
                CacheStore.check(each.request());
                settle(each);
            } catch (DbException e) {
                scope.fail(each.entry(), e);
            }
        }
    }

    private void forgetWaiting() {
        waiting.clear();
        waitingBytes = 0;
        waitingKeys.clear();
    }

    /** Notes what became of a conditional write. */
    private void settle(Write write) {
        if (write.request().status() == Status.OK) {
            return;
        }
        if (write.inserted() != null) {
            throw table.key().getDuplicateKeyException(keyText(write.inserted()));
        }
        if (write.request().version() == 0) {
            scope.countGone(write.entry());
        } else {
            lose(write.request().key(), write.entry(), write.canRunAgain());
        }
    }

    private String keyText(Row row) {
        return table.mapping().keys().stream()
                .map(key -> row.getValue(key.place()).getTraceSQL())
                .collect(Collectors.joining(", "));
    }

    private static void requireNoVersion(@Nullable Value version) {
        if (version != null && version.getValueType() != Value.NULL) {
            throw DbException.fromUser("22018", "the store assigns " + TableColumns.VERSION);
        }
    }

    private static void requireNoExpiry(@Nullable Value after, Value before) {
        if (after != null && !after.equals(before)) {
            throw DbException.fromUser("22018", "the cache's policy decides on " + TableColumns.EXPIRES);
        }
    }

    /** Writes each changed row on condition of the version that it was read at. */
    void update(Prepared prepared, SessionLocal session, LocalResult rows) {
        final List<Row> before = new ArrayList<>();
        final List<Row> after = new ArrayList<>();
        final ReadWindow window = new ReadWindow();
        while (rows.next()) {
            before.add(rows.currentRowForTable());
            if (!rows.next()) {
                throw DbException.getInternalError("a changed row without its new values");
            }
            after.add(rows.currentRowForTable());
            if (before.size() == window.size()) {
                prepared.checkCanceled();
                update(prepared, session, before, after, window);
                before.clear();
                after.clear();
            }
        }
        update(prepared, session, before, after, window);
        if (!scope.isInBatch()) {
            flush();
        }
    }

    private void update(Prepared prepared, SessionLocal session, List<Row> before, List<Row> after, ReadWindow window) {
        final boolean canRunAgain = prepared instanceof Update;
        final Map<ByteBuffer, CacheRow> present = new HashMap<>();
        final List<byte[]> unread = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            requireSameKey(session, before.get(i), after.get(i));
            final byte[] key = table.bytesOfKey(session, before.get(i));
            final CacheRow row = kept.get(ByteBuffer.wrap(key));
            if (row == null) {
                unread.add(key);
            } else {
                present.put(ByteBuffer.wrap(key), row);
            }
        }
        final List<Request> reads = table.getAll(unread, false, true);
        window.read(reads);
        for (Request read : reads) {
            if (table.rowOf(read) instanceof CacheRow row) {
                present.put(ByteBuffer.wrap(read.key()), row);
            }
        }
        for (int i = 0; i < before.size(); i++) {
            final byte[] key = table.bytesOfKey(session, before.get(i));
            final CacheRow row = present.get(ByteBuffer.wrap(key));
            final long version = versionOf(before.get(i));
            final byte[] stored = row == null ? null : row.value();
            if (row == null || stored == null) {
                scope.countGone(scope.batchEntry());
            } else if (versionOf(row) != version) {
                lose(key, scope.batchEntry(), canRunAgain);
            } else {
                final Request write = replacement(session, key, stored, before.get(i), after.get(i), version);
                add(new Write(write, scope.batchEntry(), null, canRunAgain));
            }
        }
    }

    private void requireSameKey(SessionLocal session, Row before, Row after) {
        final int last = table.getColumns().length - 1;
        for (MappedColumn key : table.mapping().keys()) {
            if (session.compare(before.getValue(key.place()), after.getValue(key.place())) != 0) {
                throw SqlErrors.unsupported(
                        "UPDATE of the key column " + key.name() + ": an entry under another key is another entry; it");
            }
        }
        if (!before.getValue(last).equals(after.getValue(last))) {
            requireNoVersion(after.getValue(last));
        }
        final int expires = TableColumns.expires(last + 1);
        requireNoExpiry(after.getValue(expires), before.getValue(expires));
    }

    private Request replacement(SessionLocal session, byte[] key, byte[] stored, Row before, Row after, long version) {
        try {
            final byte[] value =
                    table.mapping().changedValue(stored, before.getValueList(), after.getValueList(), session);
            return new Request()
                    .put(table.cacheId(), key, 0, key.length, value, 0, value.length)
                    .when(Condition.IF_VERSION, version)
                    .ttl(Ttl.ETERNAL, Ttl.UNCHANGED);
        } catch (IllegalArgumentException e) {
            throw SqlErrors.of(e);
        }
    }

    private long versionOf(Row row) {
        return row.getValue(table.getColumns().length - 1).getLong();
    }

    private void lose(byte[] key, int entry, boolean canRunAgain) {
        if (!canRunAgain || !scope.lose(key, entry)) {
            throw SqlErrors.lostRace(table.getName());
        }
    }

    /** Removes the row's entry with others, at the latest at the end of the statement or batch. */
    void remove(SessionLocal session, Row row) {
        removals.add(row);
        if (removals.size() == ReadWindow.MOST || !isDelete(session)) {
            takeRemovals(session);
        }
        if (!isDelete(session)) {
            flush();
        }
    }

    private static boolean isDelete(SessionLocal session) {
        return session.getCurrentCommand() != null
                && session.getCurrentCommand().getCommandType() == CommandInterface.DELETE;
    }

    private void takeRemovals(SessionLocal session) {
        for (Row row : removals) {
            final byte[] key = table.bytesOfKey(session, row);
            final Request request = new Request()
                    .delete(table.cacheId(), key, 0, key.length)
                    .when(Condition.IF_VERSION, versionOf(row));
            add(new Write(request, scope.batchEntry(), null, isDelete(session)));
        }
        removals.clear();
    }
}
