package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.cache.Cache;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.VersionedValue;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;

/** What statements ask of the servers: as little as they need, and together where it can be. */
final class RequestsOfStatementsTest {
    private static final int MANY = 100_000;
    private static final int SOME = 1_000;
    private static final int ENTRIES_OF_A_PAGE = 256;

    private CountedStore store;
    private Connection connection;
    private Statement statement;

    @BeforeEach
    void open() throws SQLException {
        store = new CountedStore();
        connection = store.connect();
        statement = connection.createStatement();
        fill("items", SOME);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        store.close();
    }

    private Cache<Integer, Long> fill(String name, int rows) {
        final Cache<Integer, Long> cache = store.manager.createCache(
                name, new MutableConfiguration<Integer, Long>().setTypes(Integer.class, Long.class));
        for (int from = 0; from < rows; from += 10_000) {
            final Map<Integer, Long> part = new HashMap<>();
            for (int i = from; i < Math.min(rows, from + 10_000); i++) {
                part.put(i, (long) i);
            }
            cache.putAll(part);
        }
        return cache;
    }

    /** Rows of a query whose table is known. */
    private int rows(String sql) throws SQLException {
        statement.executeQuery("SELECT * FROM items LIMIT 0").close();
        store.forget();
        try (ResultSet rows = statement.executeQuery(sql)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }

    private String one(String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            return rows.getString(1);
        }
    }

    private static String list(int from, int to) {
        return IntStream.range(from, to).mapToObj(String::valueOf).collect(Collectors.joining(", ", "(", ")"));
    }

    @Test
    void shouldAskForNoPageBehindTheLimit() throws SQLException {
        fill("big", MANY);
        statement.executeQuery("SELECT * FROM big LIMIT 0").close();

        assertThat(rows("SELECT * FROM big LIMIT 10")).isEqualTo(10);
        assertThat(store.pages).hasValue(1);
        assertThat(rows("SELECT _value FROM big WHERE _value >= 0 LIMIT 10")).isEqualTo(10);
        assertThat(store.pages).hasValue(1);
        assertThat(rows("SELECT _value FROM big WHERE mod(_value, 1000) = 0 LIMIT 10"))
                .isEqualTo(10);
        assertThat(store.pages.get()).isBetween(2, MANY / ENTRIES_OF_A_PAGE / 2);
        assertThat(rows("SELECT b._value FROM items s JOIN big b ON b._key = s._value LIMIT 1"))
                .isEqualTo(1);
        assertThat(store.pages).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " WHERE _value < 0"})
    void shouldAskForNoPageAfterACancel(String where) throws SQLException {
        fill("big", MANY);
        statement.executeQuery("SELECT * FROM big LIMIT 0").close();
        store.beforePage = page -> {
            if (page == 3) {
                cancel();
            }
        };

        assertThatThrownBy(() -> rows("SELECT _value FROM big" + where))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
        assertThat(store.pages).hasValue(3);
    }

    private void cancel() {
        try {
            statement.cancel();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " WHERE _value < 0"})
    void shouldAskForNoPageAfterTheTimeOut(String where) throws SQLException {
        passTheTimeOut();
        assertThatThrownBy(() -> rows("SELECT _value FROM big" + where))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
        assertThat(store.pages).hasValue(3);
    }

    @Test
    void shouldChangeNothingAfterTheTimeOut() throws SQLException {
        passTheTimeOut();
        assertThatThrownBy(() -> statement.executeUpdate("UPDATE big SET _value = 1 WHERE _value < 0"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
        assertThat(store.pages).hasValue(3);
    }

    /** The time of a statement ends at its third page. */
    private void passTheTimeOut() throws SQLException {
        fill("big", MANY);
        statement.executeQuery("SELECT * FROM big LIMIT 0").close();
        store.forget();
        store.beforePage = page -> {
            if (page == 3) {
                final long begin = System.nanoTime();
                while (System.nanoTime() - begin < 1_100_000_000L) {
                    LockSupport.parkNanos(50_000_000);
                }
            }
        };
        statement.setQueryTimeout(1);
    }

    @Test
    void shouldReadTheKeysOfAListTogether() throws SQLException {
        assertThat(rows("SELECT * FROM items WHERE _key IN " + list(-100, 400))).isEqualTo(400);
        assertThat(store.together).containsExactly(4, 16, 64, 256, 160);
        assertThat(store.alone).isEmpty();
        assertThat(store.pages).hasValue(0);

        assertThat(rows("SELECT * FROM items WHERE _key IN (7, 7000, 8) AND _value > 7"))
                .isEqualTo(1);
        assertThat(store.together).containsExactly(3);
    }

    @Test
    void shouldReadWhatAJoinNeedsTogether() throws SQLException {
        fill("orders", SOME);

        assertThat(rows("SELECT o._key, s._value FROM orders o JOIN items s ON s._key = o._value WHERE o._value < 500"))
                .isEqualTo(500);
        assertThat(store.together.stream().mapToInt(size -> size).sum() + store.alone.size())
                .as("reads only of rows that the outer condition leaves")
                .isEqualTo(500);
        assertThat(store.together.size() + store.alone.size()).isLessThan(100);
        assertThat(one("SELECT sum(s._value - o._value) FROM orders o JOIN items s ON s._key = o._value"))
                .isEqualTo("0");
        assertThat(one("SELECT count(*) FROM orders o LEFT JOIN items s ON s._key = o._value + 0 AND s._value < 10"))
                .isEqualTo("1000");
    }

    @Test
    void shouldChangeRowsTogetherAndReadEachOnce() throws SQLException {
        statement.executeUpdate("UPDATE items SET _value = 0 WHERE _key = 0");
        store.forget();

        assertThat(statement.executeUpdate("UPDATE items SET _value = _value + 1 WHERE _key IN " + list(0, 200)))
                .isEqualTo(200);
        assertThat(store.together).as("reads, then writes").containsExactly(4, 16, 64, 116, 200);
        assertThat(store.alone).isEmpty();
        assertThat(one("SELECT sum(_value) FROM items WHERE _key < 200")).isEqualTo(String.valueOf(199 * 100 + 200));
    }

    @Test
    void shouldReadAgainOnlyTheRowThatAnotherWriterHasChanged() throws SQLException {
        final int cache = store.other.catalogue().find("items").id();
        final AtomicBoolean done = new AtomicBoolean();
        statement.executeQuery("SELECT * FROM items LIMIT 0").close();
        store.forget();
        store.beforeTogether = requests -> {
            if (requests.get(0).operation() == Operation.PUT && done.compareAndSet(false, true)) {
                final Request any = requests.get(0);
                final VersionedValue present = store.other.getVersioned(cache, any.key());
                store.other.put(cache, any.key(), present.value());
            }
        };

        assertThat(statement.executeUpdate("UPDATE items SET _value = _value + 1"))
                .isEqualTo(SOME);
        final int pagesOfARun = store.pages.get();
        assertThat(store.together.get(store.together.size() - 1)).isEqualTo(1);
        store.forget();
        assertThat(statement.executeUpdate("UPDATE items SET _value = _value + 1"))
                .isEqualTo(SOME);
        assertThat(store.pages).as("the run for the row scans nothing").hasValue(pagesOfARun);
        assertThat(one("SELECT sum(_value) FROM items")).isEqualTo(String.valueOf(999 * 500 + 2_000));
    }

    @Test
    void shouldSendTheWritesOfABatchTogether() throws SQLException {
        statement.executeQuery("SELECT * FROM items LIMIT 0").close();
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE items SET _value = _value + 1 WHERE _key = ?")) {
            for (int i = 0; i < SOME; i++) {
                update.setInt(1, i == 501 ? 500 : i);
                update.addBatch();
            }
            store.forget();
            assertThat(update.executeBatch()).hasSize(SOME).containsOnly(1);
        }
        assertThat(store.alone).hasSizeLessThan(5);
        assertThat(store.together.stream().mapToInt(size -> size).sum()).isBetween(2 * SOME - 5, 2 * SOME);
        assertThat(store.together).hasSizeLessThan(20);
        assertThat(one("SELECT _value FROM items WHERE _key = 500")).isEqualTo("502");
        assertThat(one("SELECT _value FROM items WHERE _key = 501")).isEqualTo("501");

        try (PreparedStatement delete = connection.prepareStatement("DELETE FROM items WHERE _key = ?")) {
            for (int i = 0; i < SOME + 1; i++) {
                delete.setInt(1, i);
                delete.addBatch();
            }
            store.forget();
            final int[] counts = delete.executeBatch();
            assertThat(counts[0]).isEqualTo(1);
            assertThat(counts[SOME]).isEqualTo(0);
        }
        assertThat(store.alone).doesNotContain(Operation.DELETE);
        assertThat(one("SELECT count(*) FROM items")).isEqualTo("0");
    }

    /** A batch of 500 on 500 keys: reads in windows, and writes together. */
    @ParameterizedTest
    @ValueSource(strings = {"UPDATE items SET _value = _value + 1 WHERE _key = ?", "DELETE FROM items WHERE _key = ?"})
    void shouldReadTheRowsOfABatchTogether(String sql) throws SQLException {
        try (PreparedStatement change = connection.prepareStatement(sql)) {
            change.setInt(1, 999);
            change.executeUpdate();
            for (int i = 0; i < 500; i++) {
                change.setInt(1, i);
                change.addBatch();
            }
            store.forget();
            assertThat(change.executeBatch()).hasSize(500).containsOnly(1);
        }
        assertThat(store.together).as("reads, and writes").containsExactly(4, 16, 64, 256, 256, 160, 244);
        assertThat(store.alone).isEmpty();
    }

    /** Each entry sees what those before it have written, whatever was read ahead. */
    @Test
    void shouldKeepTheOrderOfABatchsEntries() throws SQLException {
        final int[] keys = {1, 2, 1, 3, 4, 5, 4, 4, 6, 1, 7, 2};
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE items SET _value = _value * 10 + ? WHERE _key = ?")) {
            for (int i = 0; i < keys.length; i++) {
                update.setInt(1, i % 10);
                update.setInt(2, keys[i]);
                update.addBatch();
            }
            assertThat(update.executeBatch()).hasSize(keys.length).containsOnly(1);
        }
        assertThat(one("SELECT _value FROM items WHERE _key = 1")).isEqualTo("1029");
        assertThat(one("SELECT _value FROM items WHERE _key = 2")).isEqualTo("211");
        assertThat(one("SELECT _value FROM items WHERE _key = 4")).isEqualTo("4467");
        assertThat(one("SELECT _value FROM items WHERE _key = 7")).isEqualTo("70");

        store.forget();
        final AtomicInteger writes = new AtomicInteger();
        store.beforeTogether =
                requests -> writes.addAndGet(requests.get(0).operation().isMutation() ? requests.size() : 0);
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE items SET _value = _value + 1 WHERE _key IN (?, ?)")) {
            for (int i = 0; i < 3; i++) {
                update.setInt(1, 100 + i % 2);
                update.setInt(2, 101 - i % 2);
                update.addBatch();
            }
            assertThat(update.executeBatch()).containsExactly(2, 2, 2);
        }
        store.beforeTogether = requests -> {};
        final long alone = store.alone.stream().filter(Operation::isMutation).count();
        assertThat(writes.get() + alone)
                .as("none is lost to an earlier entry, and runs again")
                .isEqualTo(6);
        assertThat(one("SELECT sum(_value) FROM items WHERE _key IN (100, 101)"))
                .isEqualTo("207");
    }

    @Test
    void shouldSendRowsWithOneKeyApart() throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO items VALUES (?, ?)")) {
            for (int i = 0; i < 3; i++) {
                insert.setInt(1, 5_000 + i / 2);
                insert.setInt(2, i);
                insert.addBatch();
            }
            assertThatThrownBy(insert::executeBatch)
                    .isInstanceOfSatisfying(
                            BatchUpdateException.class,
                            e -> assertThat(e.getUpdateCounts()).containsExactly(1, Statement.EXECUTE_FAILED, 1));
        }
        assertThat(one("SELECT _value FROM items WHERE _key = 5000")).isEqualTo("0");
    }

    @Test
    void shouldBoundTheBytesThatAreReadTogether() throws SQLException {
        final Cache<Integer, byte[]> wide = store.manager.createCache(
                "wide", new MutableConfiguration<Integer, byte[]>().setTypes(Integer.class, byte[].class));
        for (int i = 0; i < 40; i++) {
            wide.put(i, new byte[1 << 18]);
        }
        statement.executeQuery("SELECT * FROM wide LIMIT 0").close();

        assertThat(rows("SELECT * FROM wide WHERE _key IN " + list(0, 40))).isEqualTo(40);
        assertThat(store.together).as("4 MiB at once").containsExactly(4, 15, 15, 6);
        store.forget();
        assertThat(statement.executeUpdate("UPDATE wide SET _value = X'01' WHERE length(_value) > 7"))
                .isEqualTo(40);
        assertThat(store.together.subList(0, store.together.size() - 1)).allMatch(size -> size <= 15);
    }

    /** Only a statement that names it asks for the end of the lifetime, and then not row by row. */
    @Test
    void shouldReadLifetimesTogether() throws SQLException {
        assertThat(rows("SELECT _key, _expires FROM items")).isEqualTo(SOME);
        assertThat(store.alone).isEmpty();
        assertThat(store.together).as("windows of pages").hasSizeLessThan(24);
        assertThat(store.together.stream().mapToInt(size -> size).sum()).isEqualTo(SOME);
        assertThat(rows("SELECT _key, _value FROM items WHERE _expires IS NULL LIMIT 1"))
                .isEqualTo(1);
        assertThat(store.together).containsExactly(4);

        assertThat(rows("SELECT * FROM items")).isEqualTo(SOME);
        assertThat(store.together).isEmpty();
        store.forget();
        assertThat(statement.executeUpdate("UPDATE items SET _value = 1 WHERE _key < 5"))
                .isEqualTo(5);
        assertThat(store.together).as("only the writes").containsExactly(5);
        assertThat(store.alone).isEmpty();
    }

    /** Before rows are written together the next time, another client writes that value. */
    private void interfere(int key, long value) {
        final Cache<Integer, Long> items = store.manager.getCache("items", Integer.class, Long.class);
        final AtomicBoolean done = new AtomicBoolean();
        store.beforeTogether = requests -> {
            if (requests.get(0).operation().isMutation() && done.compareAndSet(false, true)) {
                items.put(key, value);
            }
        };
    }

    private int[] batch(String sql, int[]... entries) throws SQLException {
        try (PreparedStatement change = connection.prepareStatement(sql)) {
            for (int[] entry : entries) {
                for (int i = 0; i < entry.length; i++) {
                    change.setInt(i + 1, entry[i]);
                }
                change.addBatch();
            }
            return change.executeBatch();
        }
    }

    @Test
    void shouldRunAgainTheEntryOfABatchThatAnotherWriterHasBeaten() throws SQLException {
        statement.executeQuery("SELECT * FROM items LIMIT 0").close();
        interfere(3, 70);
        assertThat(batch(
                        "UPDATE items SET _value = _value + 1 WHERE _key = ?",
                        IntStream.range(0, 10).mapToObj(i -> new int[] {i}).toArray(int[][]::new)))
                .hasSize(10)
                .containsOnly(1);
        assertThat(one("SELECT _value FROM items WHERE _key = 3")).isEqualTo("71");
        assertThat(one("SELECT _value FROM items WHERE _key = 4")).isEqualTo("5");

        interfere(4, 0);
        assertThat(batch(
                        "DELETE FROM items WHERE _key = ? AND _value > ?",
                        new int[][] {{3, 0}, {4, 1}, {5, 0}, {999, 0}}))
                .containsExactly(1, 0, 1, 1);
        assertThat(one("SELECT _value FROM items WHERE _key = 4")).isEqualTo("0");

        interfere(7, 70);
        assertThat(batch("DELETE FROM items WHERE _key = ? AND _value > ?", new int[][] {{6, 0}, {7, 1}, {7, 1}}))
                .containsExactly(1, 1, 0);
    }

    /** What the entries before have lost, later ones change after them, whether they look it up or scan. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE items SET _value = _value * 10 + ? WHERE _key IN (?, ?)",
                "UPDATE items SET _value = _value * 10 + ? WHERE ? = _key + 0 OR _key + 0 = ?",
                "UPDATE items SET _value = _value * 10 + ? WHERE (? = _key OR _key = ?) AND _value >= (SELECT 0)"
            })
    void shouldKeepTheOrderOfABatchsEntriesForRowsThatAreLost(String sql) throws SQLException {
        statement.executeQuery("SELECT * FROM items LIMIT 0").close();
        interfere(1, 7);
        assertThat(batch(sql, new int[][] {{4, 1, 2}, {5, 3, 1}, {6, 2, 3}, {8, 1, 9}}))
                .containsExactly(2, 2, 2, 2);
        assertThat(one("SELECT _value FROM items WHERE _key = 1")).isEqualTo("7458");
        assertThat(one("SELECT _value FROM items WHERE _key = 2")).isEqualTo("246");
        assertThat(one("SELECT _value FROM items WHERE _key = 3")).isEqualTo("356");
        assertThat(one("SELECT _value FROM items WHERE _key = 9")).isEqualTo("98");
    }

    @Test
    void shouldRunAgainTheTextOfABatch() throws SQLException {
        interfere(1, 7);
        statement.addBatch("UPDATE items SET _value = _value + 1 WHERE _key IN (1, 2)");
        statement.addBatch("UPDATE items SET _value = 'x' WHERE _key = 3");
        statement.addBatch("UPDATE items SET _value = _value + 1 WHERE _key = 1");
        assertThatThrownBy(statement::executeBatch).isInstanceOfSatisfying(BatchUpdateException.class, e -> {
            assertThat(e.getUpdateCounts()).containsExactly(2, Statement.EXECUTE_FAILED, 1);
            assertThat(e.getNextException().getSQLState()).isEqualTo("22018");
        });
        assertThat(one("SELECT _value FROM items WHERE _key = 1")).isEqualTo("9");
    }

    /** Entries of two statements are numbered by entry, not by statement. */
    @Test
    void shouldRunABatchOfSeveralStatementsInOneText() throws SQLException {
        assertThat(batch(
                        "UPDATE items SET _value = 1 WHERE _key = ?; UPDATE items SET _value = 2 WHERE _key = ?",
                        new int[][] {{1, 2}, {3, 4}}))
                .hasSize(2);
        assertThat(one("SELECT sum(_value) FROM items WHERE _key IN (1, 2, 3, 4)"))
                .isEqualTo("6");
    }
}
