package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tables of several columns: those that SQL declares, and those whose keys are objects. */
@SuppressWarnings({"rawtypes", "unchecked"}) // as a cache of maps is opened
final class DeclaredTablesTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=64m&name=declared";

    record Place(String shop, int shelf) implements Serializable {}

    private CacheManager manager;
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(URL), null);
        connection = DriverManager.getConnection("jdbc:" + URL);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        manager.close();
    }

    private <K, V> Cache<K, V> cache(String name, Class<K> key, Class<V> value) {
        return manager.createCache(name, new MutableConfiguration<K, V>().setTypes(key, value));
    }

    private static List<List<Object>> query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            final List<List<Object>> all = new ArrayList<>();
            while (rows.next()) {
                final List<Object> row = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                    row.add(rows.getObject(i));
                }
                all.add(row);
            }
            return all;
        }
    }

    private List<List<Object>> query(String sql) throws SQLException {
        return query(connection, sql);
    }

    private int update(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    private static void assertFails(String state, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo(state));
    }

    @Test
    void shouldBeMapsForTheCacheApi() throws SQLException {
        update("CREATE TABLE goods(price NUMERIC(10, 2), id INT PRIMARY KEY, name VARCHAR(5) NOT NULL, more JSON)");
        assertThat(update("INSERT INTO goods VALUES (1.5, 7, 'pen', JSON '{\"a\":1}'), (NULL, 8, 'ink', NULL)"))
                .isEqualTo(2);

        final Cache<Integer, Map> goods = cache("goods", Integer.class, Map.class);
        assertThat(goods.get(7)).isEqualTo(Map.of("price", new BigDecimal("1.50"), "name", "pen", "more", "{\"a\":1}"));
        assertThat(goods.get(8)).isEqualTo(Map.of("name", "ink"));
        final Map<String, Object> written = new HashMap<>(Map.of("name", "pad", "price", new BigDecimal("3"), "x", 1));
        goods.put(9, written);
        assertThat(query("SELECT * FROM goods WHERE id = 9").toString()).isEqualTo("[[3.00, 9, pad, null]]");
        assertThat(update("UPDATE goods SET price = price * 2, more = NULL")).isEqualTo(3);
        written.put("price", new BigDecimal("6.00"));
        assertThat(goods.get(9)).isEqualTo(written);
        assertThat(goods.get(7)).isEqualTo(Map.of("price", new BigDecimal("3.00"), "name", "pen"));

        assertFails("22001", () -> update("INSERT INTO goods(id, name) VALUES (10, 'too long')"));
        assertFails("23502", () -> update("INSERT INTO goods(id) VALUES (10)"));
        assertFails("23505", () -> update("INSERT INTO goods(id, name) VALUES (9, 'a')"));
        assertFails("0A000", () -> update("UPDATE goods SET id = 11 WHERE id = 9"));
        goods.put(12, Map.of("name", 5));
        assertFails("22018", () -> query("SELECT * FROM goods WHERE id = 12"));
    }

    @Test
    void shouldStayAsDeclaredForOthers() throws SQLException {
        update("CREATE TABLE kept(a INT, b VARCHAR, c NUMERIC(8, 3), PRIMARY KEY(b, a))");
        update("CREATE TABLE single(_KEY DATE, _VALUE NUMERIC(10, 2) NOT NULL)");
        try (Connection other = DriverManager.getConnection("jdbc:" + URL)) {
            assertThat(query(other, "SELECT * FROM kept")).isEmpty();
            try (ResultSet columns = other.getMetaData().getColumns(null, "CACHES", "kept", "%")) {
                final List<String> types = new ArrayList<>();
                while (columns.next()) {
                    types.add(columns.getString("COLUMN_NAME")
                            + ' '
                            + columns.getString("TYPE_NAME")
                            + ' '
                            + columns.getInt("DECIMAL_DIGITS")
                            + ' '
                            + columns.getString("IS_NULLABLE"));
                }
                assertThat(types).containsExactly("a INTEGER 0 NO", "b CHARACTER VARYING 0 NO", "c NUMERIC 3 YES");
            }
            try (Statement statement = other.createStatement()) {
                statement.executeUpdate("INSERT INTO kept VALUES (1, 'x', 1.5), (2, 'x', 2.5)");
                statement.executeUpdate("INSERT INTO single VALUES (DATE '2026-01-02', 1)");
            }
        }
        assertThat(query("SELECT c FROM kept WHERE a = 2 AND b = 'x'").toString())
                .isEqualTo("[[2.500]]");
        assertThat(query("SELECT * FROM single").toString()).isEqualTo("[[2026-01-02, 1.00]]");
    }

    @Test
    void shouldFindRowsByAKeyOfSeveralColumns() throws SQLException {
        update("CREATE TABLE stock(shop VARCHAR, shelf INT, goods INT, n BIGINT, PRIMARY KEY(shop, shelf))");
        for (int i = 0; i < 100; i++) {
            update("INSERT INTO stock VALUES ('s" + i % 4 + "', " + i / 4 + ", " + i + ", 0)");
        }

        assertThat(query("EXPLAIN SELECT * FROM stock WHERE shop = 's1' AND shelf = 3")
                        .toString())
                .contains("/* GET: ");
        assertThat(query("EXPLAIN SELECT * FROM stock WHERE shop = 's1'").toString())
                .contains("/* SCAN */");
        assertThat(query("SELECT goods FROM stock WHERE shelf = 3 AND shop = 's1'"))
                .containsExactly(List.of(13));
        assertThat(query("SELECT count(*) FROM stock WHERE shop = 's1'")).containsExactly(List.of(25L));
        assertThat(query("SELECT goods FROM stock WHERE shop IN ('s1', 's2', 's1') AND shelf IN (3, 4) ORDER BY 1"))
                .containsExactly(List.of(13), List.of(14), List.of(17), List.of(18));
        assertThat(query("SELECT goods FROM stock WHERE (shop, shelf) IN (('s1', 3), ('s2', 4), ('s9', 1)) ORDER BY 1"))
                .containsExactly(List.of(13), List.of(18));
        assertThat(query("SELECT count(*) FROM stock a JOIN stock b ON b.shop = a.shop AND b.shelf = a.shelf + 1"))
                .containsExactly(List.of(96L));
        assertThat(update("UPDATE stock SET n = goods WHERE shop = 's3'")).isEqualTo(25);
        assertThat(update("DELETE FROM stock WHERE shelf > 20 AND shop <> 's3'"))
                .isEqualTo(12);
        assertThat(query("SELECT count(*), sum(n) FROM stock")).containsExactly(List.of(88L, new BigDecimal(1275)));
        assertFails("23505", () -> update("INSERT INTO stock VALUES ('s3', 24, 1, 1)"));
        assertFails("0A000", () -> update("UPDATE stock SET shelf = 99 WHERE shop = 's3' AND shelf = 0"));
        final Cache<List, Map> stock = cache("stock", List.class, Map.class);
        assertThat(stock.get(List.of("s3", 24))).isEqualTo(Map.of("goods", 99, "n", 99L));
    }

    @Test
    void shouldFindEachRowOnceByDecimals() throws SQLException {
        update("CREATE TABLE decimals(k NUMERIC(4, 1) PRIMARY KEY, v INT)");
        update("INSERT INTO decimals VALUES (1, 1), (1.5, 2), (2, 3)");

        assertThat(query("SELECT v FROM decimals WHERE k IN (1, 1.5, 7) ORDER BY 1"))
                .containsExactly(List.of(1), List.of(2));
        assertThat(update("UPDATE decimals SET v = v + 1 WHERE k IN (1.0, 2.0)"))
                .isEqualTo(2);
        assertThat(query("SELECT sum(v) FROM decimals")).containsExactly(List.of(8L));
    }

    @Test
    void shouldGiveRowsWithoutAKeyAHiddenOne() throws SQLException {
        update("CREATE TABLE lines(a INT, b VARCHAR)");
        assertThat(update("INSERT INTO lines VALUES (1, 'x'), (1, 'x'), (2, NULL)"))
                .isEqualTo(3);
        assertThat(update("INSERT INTO lines(b) SELECT b FROM lines")).isEqualTo(3);

        assertThat(query("SELECT * FROM lines ORDER BY a, b").get(3)).isEqualTo(List.of(1, "x"));
        assertThat(query("SELECT count(*), count(a), count(DISTINCT _key) FROM lines"))
                .containsExactly(List.of(6L, 3L, 6L));
        assertThat(update("UPDATE lines SET b = 'y' WHERE a = 1")).isEqualTo(2);
        assertThat(update("DELETE FROM lines WHERE a IS NULL")).isEqualTo(3);
        assertThat(query("SELECT a, b, count(*) FROM lines GROUP BY a, b ORDER BY 1"))
                .hasSize(2);
        try (ResultSet keys = connection.getMetaData().getPrimaryKeys(null, "CACHES", "lines")) {
            assertThat(keys.next()).isFalse();
        }
        final Cache<UUID, Map> lines = cache("lines", UUID.class, Map.class);
        final UUID id = UUID.fromString("00000000-0000-4000-8000-000000000001");
        lines.put(id, Map.of("a", 5));
        assertThat(query("SELECT a FROM lines WHERE _key = '" + id + "'")).containsExactly(List.of(5));
    }

    @Test
    void shouldShowTheFieldsOfAKeyAsColumns() throws SQLException {
        final Cache<Place, Long> places = cache("places", Place.class, Long.class);
        assertThat(update("INSERT INTO places VALUES ('a', 1, 10)")).isEqualTo(1);
        assertThat(places.get(new Place("a", 1))).isEqualTo(10L);
        places.put(new Place("a", 2), 20L);
        places.put(new Place("b", 1), 30L);

        assertThat(query("EXPLAIN SELECT * FROM places WHERE shop = 'a' AND shelf = 2")
                        .toString())
                .contains("/* GET: ");
        assertThat(query("SELECT _value FROM places WHERE shop = 'a' AND shelf = 2"))
                .containsExactly(List.of(20L));
        assertThat(update("UPDATE places SET _value = _value + 1 WHERE shop = 'a'"))
                .isEqualTo(2);
        assertThat(update("INSERT INTO places(shop, shelf, _value) VALUES ('c', 3, 40)"))
                .isEqualTo(1);
        assertThat(places.get(new Place("a", 1))).isEqualTo(11L);
        assertThat(places.get(new Place("c", 3))).isEqualTo(40L);
        try (ResultSet keys = connection.getMetaData().getPrimaryKeys(null, "CACHES", "places")) {
            final List<String> names = new ArrayList<>();
            while (keys.next()) {
                names.add(keys.getString("COLUMN_NAME") + keys.getInt("KEY_SEQ"));
            }
            assertThat(names).containsExactlyInAnyOrder("shop1", "shelf2");
        }
        assertThat(update("DELETE FROM places WHERE shop = 'b' OR shelf = 3")).isEqualTo(2);
        assertThat(places.containsKey(new Place("b", 1))).isFalse();
    }

    @Test
    void shouldWriteTheFirstOfABatchsRowsWithOneKey() throws SQLException {
        update("CREATE TABLE texts(id INT PRIMARY KEY, v VARCHAR)");
        final String longer = "v".repeat(20_000_000); // takes longer to write than what follows
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO texts VALUES (?, ?)")) {
            for (String value : List.of(longer, "v")) {
                insert.setInt(1, 1);
                insert.setString(2, value);
                insert.addBatch();
            }
            assertThatThrownBy(insert::executeBatch)
                    .isInstanceOfSatisfying(
                            BatchUpdateException.class,
                            e -> assertThat(e.getUpdateCounts()).containsExactly(1, Statement.EXECUTE_FAILED));
        }
        assertThat(query("SELECT length(v) FROM texts")).containsExactly(List.of((long) longer.length()));
    }

    @Test
    void shouldTellWhatBecameOfEachEntryOfABatch() throws SQLException {
        update("CREATE TABLE filled(id INT PRIMARY KEY, v VARCHAR)");
        update("INSERT INTO filled VALUES (5, 'there'), (600, 'there')");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO filled VALUES (?, ?)")) {
            for (int i = 0; i < 1_000; i++) {
                insert.setInt(1, i == 701 ? 700 : i);
                insert.setString(2, "v" + i);
                insert.addBatch();
            }
            assertThatThrownBy(insert::executeBatch).isInstanceOfSatisfying(BatchUpdateException.class, e -> {
                assertThat(e.getUpdateCounts()).hasSize(1_000);
                for (int i = 0; i < 1_000; i++) {
                    assertThat(e.getUpdateCounts()[i])
                            .as("entry %s", i)
                            .isEqualTo(i == 5 || i == 600 || i == 701 ? Statement.EXECUTE_FAILED : 1);
                }
                assertThat(e.getSQLState()).isEqualTo("23505");
            });
            insert.setInt(1, 5_000);
            insert.setString(2, "after");
            insert.addBatch();
            assertThat(insert.executeBatch()).containsExactly(1);
        }
        assertThat(query("SELECT count(*) FROM filled")).containsExactly(List.of(1_000L));
        assertThat(query("SELECT v FROM filled WHERE id IN (5, 600, 700) ORDER BY id"))
                .containsExactly(List.of("there"), List.of("there"), List.of("v700"));
    }
}
