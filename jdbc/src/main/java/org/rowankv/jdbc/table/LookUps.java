package org.rowankv.jdbc.table;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.h2.command.CommandInterface;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.ExpressionVisitor;
import org.h2.expression.ParameterInterface;
import org.h2.expression.condition.Comparison;
import org.h2.index.IndexCondition;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.table.Column;
import org.h2.table.TableFilter;
import org.h2.value.Value;
import org.h2.value.ValueRow;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;

/**
 * Look-ups by key at one place of a statement. H2 asks for one key at a time; with servers elsewhere, those that come next
 * are read together: those of an IN list, those that a join needs for the outer rows that the client has, and those of a
 * batch's next entries. What was read serves one run of the statement, and one change: after that the row is another. Used
 * by one session.
 */
final class LookUps {
    /** Conditions of outer rows that cost more, such as inner queries, are not evaluated ahead. */
    private static final int CHEAP = 100;

    private final CacheTable table;
    private final TableFilter filter;
    private final Map<ByteBuffer, @Nullable Row> found = new HashMap<>();
    private long run;
    private final ReadWindow window = new ReadWindow();
    private boolean isLookingAhead;

    LookUps(CacheTable table, TableFilter filter) {
        this.table = table;
        this.filter = filter;
    }

    /** The row of the entry of that key, which has these values; null if there is none. */
    @Nullable
    Row find(SessionLocal session, SearchRow wanted, byte[] key, boolean withExpiry) {
        if (filter.getSelect() == null && !table.admits(key)) {
            return null;
        }
        if (!table.isRemote() || isLookingAhead || !canLookAhead(session)) {
            return table.get(key, withExpiry);
        }
        if (run != table.scope().run()) {
            run = table.scope().run();
            window.begin();
            found.clear();
        }
        final ByteBuffer asked = ByteBuffer.wrap(key);
        if (found.containsKey(asked)) {
            return taken(asked);
        }
        found.clear();
        final Map<ByteBuffer, byte[]> keys = new LinkedHashMap<>();
        keys.put(asked, key);
        isLookingAhead = true;
        try {
            lookAhead(session, wanted, keys);
        } finally {
            isLookingAhead = false;
        }
        if (keys.size() == 1) {
            return table.get(key, withExpiry);
        }
        final List<Request> reads = table.getAll(keys.values(), withExpiry, true);
        window.read(reads);
        reads.forEach(each -> found.put(ByteBuffer.wrap(each.key()), table.rowOf(each)));
        return taken(asked);
    }

    private @Nullable Row taken(ByteBuffer key) {
        return filter.getSelect() == null ? found.remove(key) : found.get(key);
    }

    /** Whether this run of the statement does not change the row. */
    private boolean isLeftOut(byte[] key) {
        return filter.getSelect() == null && !table.scope().admits(key);
    }

    /** Other statements may read what they have written themselves. */
    private static boolean canLookAhead(SessionLocal session) {
        if (session.getCurrentCommand() == null) {
            return true; // rows of a query, read as they are asked for
        }
        final int type = session.getCurrentCommand().getCommandType();
        return session.getCurrentCommand().isQuery()
                || type == CommandInterface.UPDATE
                || type == CommandInterface.DELETE;
    }

    private void lookAhead(SessionLocal session, SearchRow wanted, Map<ByteBuffer, byte[]> keys) {
        for (IndexCondition condition : filter.getIndexConditions()) {
            if (condition.getCompareType() == Comparison.IN_LIST || condition.getCompareType() == Comparison.IN_ARRAY) {
                addOfList(session, condition, wanted, keys);
                return;
            }
        }
        if (filter.getSelect() == null) {
            addOfBatch(session, keys);
            return;
        }
        final TableFilter outer = outerOfJoin();
        if (outer != null && outer.getIndex() instanceof CacheIndex scan) {
            addOfJoin(session, outer, scan.rowsAfter(outer.get(), window.size() - 1), keys);
        }
    }

    /** Those of the list's values that come after the one that is wanted. */
    private void addOfList(
            SessionLocal session, IndexCondition condition, SearchRow wanted, Map<ByteBuffer, byte[]> keys) {
        final Column[] columns =
                condition.isCompoundColumns() ? condition.getColumns() : new Column[] {condition.getColumn()};
        boolean isAfter = false;
        for (Value value : condition.getCurrentValueList(session)) {
            final Value[] parts = value instanceof ValueRow row ? row.getList() : new Value[] {value};
            if (isAfter) {
                final SearchRow next = table.getTemplateRow();
                next.copyFrom(wanted);
                for (int i = 0; i < columns.length; i++) {
                    next.setValue(columns[i].getColumnId(), columns[i].convert(session, parts[i]));
                }
                add(session, next, keys);
                if (keys.size() == window.size()) {
                    return;
                }
            } else {
                isAfter = true;
                for (int i = 0; i < columns.length; i++) {
                    isAfter &= session.compare(
                                    columns[i].convert(session, parts[i]), wanted.getValue(columns[i].getColumnId()))
                            == 0;
                }
            }
        }
    }

    /** Those of the next entries, up to one whose row is changed before. */
    private void addOfBatch(SessionLocal session, Map<ByteBuffer, byte[]> keys) {
        if (!filter.getIndexConditions().stream().allMatch(LookUps::isOfParameters)) {
            return;
        }
        final List<? extends ParameterInterface> parameters =
                session.getCurrentCommand().getParameters();
        final Value[] present =
                parameters.stream().map(ParameterInterface::getParamValue).toArray(Value[]::new);
        try {
            for (Value[] entry : table.scope().entriesAhead()) {
                set(parameters, entry);
                final SearchRow next = table.getTemplateRow();
                for (IndexCondition condition : filter.getIndexConditions()) {
                    next.setValue(condition.getColumn().getColumnId(), condition.getCurrentValue(session));
                }
                final int before = keys.size();
                add(session, next, keys);
                if (keys.size() == before || keys.size() == window.size()) {
                    return;
                }
            }
        } catch (DbException e) { // comes again in its entry
            return;
        } finally {
            set(parameters, present);
        }
    }

    private static boolean isOfParameters(IndexCondition condition) {
        return condition.getCompareType() == Comparison.EQUAL
                && !condition.isCompoundColumns()
                && isCheap(condition.getExpression());
    }

    private static void set(List<? extends ParameterInterface> parameters, Value[] values) {
        for (int i = 0; i < values.length; i++) {
            parameters.get(i).setValue(values[i], false);
        }
    }

    /** The only place whose columns the key is of; null if there is none, or several, or a part is computed. */
    private @Nullable TableFilter outerOfJoin() {
        TableFilter outer = null;
        for (IndexCondition condition : filter.getIndexConditions()) {
            if (condition.isCompoundColumns() || condition.getCompareType() != Comparison.EQUAL) {
                return null;
            }
            if (condition.getExpression() instanceof ExpressionColumn column) {
                if (outer != null && outer != column.getTableFilter()) {
                    return null;
                }
                outer = column.getTableFilter();
            } else if (!condition.getExpression().isConstant()) {
                return null;
            }
        }
        return outer;
    }

    private void addOfJoin(SessionLocal session, TableFilter outer, List<Row> rows, Map<ByteBuffer, byte[]> keys) {
        if (!isCheap(outer.getFilterCondition()) || !isCheap(outer.getJoinCondition())) {
            return;
        }
        final Row current = outer.get();
        try {
            for (Row row : rows) {
                outer.set(row);
                if (holds(session, outer.getFilterCondition()) && holds(session, outer.getJoinCondition())) {
                    final SearchRow next = table.getTemplateRow();
                    for (IndexCondition condition : filter.getIndexConditions()) {
                        next.setValue(condition.getColumn().getColumnId(), condition.getCurrentValue(session));
                    }
                    add(session, next, keys);
                }
            }
        } catch (DbException e) { // comes again if the statement gets there
            return;
        } finally {
            outer.set(current);
        }
    }

    private static boolean isCheap(@Nullable Expression condition) {
        return condition == null
                || condition.getCost() < CHEAP && condition.isEverything(ExpressionVisitor.DETERMINISTIC_VISITOR);
    }

    private static boolean holds(SessionLocal session, @Nullable Expression condition) {
        return condition == null || condition.getBooleanValue(session);
    }

    private void add(SessionLocal session, SearchRow next, Map<ByteBuffer, byte[]> keys) {
        final byte[] key = table.keyOf(session, next);
        if (key != null && !isLeftOut(key)) {
            keys.putIfAbsent(ByteBuffer.wrap(key), key);
        }
    }
}
