package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a statement reads, and what ends it. */
final class ScansTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=64m&name=scans";
    private static final int ROWS = 5_000;
    private static final String ENDLESS = "SELECT count(*) FROM big a, big b, big c WHERE a._value + b._value = -1";

    private CacheManager manager;
    private Connection connection;
    private Statement statement;

    @BeforeEach
    void open() throws SQLException {
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(URL), null);
        final Cache<Integer, Long> big = manager.createCache(
                "big", new MutableConfiguration<Integer, Long>().setTypes(Integer.class, Long.class));
        final Map<Integer, Long> all = new HashMap<>();
        for (int i = 0; i < ROWS; i++) {
            all.put(i, (long) i);
        }
        big.putAll(all);
        connection = DriverManager.getConnection("jdbc:" + URL);
        statement = connection.createStatement();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        manager.close();
    }

    private String explain(String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Test
    void shouldShowGetsAndScans() throws SQLException {
        assertThat(explain("EXPLAIN SELECT * FROM big WHERE _key = 7")).contains("/* GET: \"_KEY\" = 7 */");
        assertThat(explain("EXPLAIN SELECT * FROM big WHERE _key IN (7, 8) AND _value > 1"))
                .contains("/* GET: ");
        assertThat(explain("EXPLAIN SELECT sum(_value) FROM big")).contains("/* SCAN */");
        assertThat(explain("EXPLAIN SELECT * FROM big WHERE _key > 7")).contains("/* SCAN */");
        assertThat(explain("EXPLAIN SELECT count(*) FROM big")).contains("/* SCAN OF KEYS */");
        assertThat(explain("EXPLAIN SELECT max(_key) FROM big")).contains("/* SCAN OF KEYS */");
        assertThat(explain("EXPLAIN ANALYZE SELECT * FROM big WHERE _key IN (7, 8)"))
                .contains("scanCount: 3");
    }

    @Test
    void shouldReadNoMoreThanTheLimit() throws SQLException {
        assertThat(explain("EXPLAIN ANALYZE SELECT * FROM big LIMIT 3")).contains("scanCount: 3");
        assertThat(explain("EXPLAIN ANALYZE SELECT * FROM big")).contains("scanCount: " + (ROWS + 1));
    }

    @Test
    void shouldReadValuesThatAScanOfKeysLeftOut() throws SQLException {
        assertThat(explain("SELECT sum(v) FROM (SELECT _key k, _value v FROM big) WHERE k < 3"))
                .isEqualTo("3");
        assertThat(explain(
                        "SELECT (SELECT sum(b._value) FROM big b WHERE b._key = a._key) FROM big a WHERE a._key = 9"))
                .isEqualTo("9");
    }

    @Test
    void shouldFindAKeyByNumbersOfOtherTypes() throws SQLException {
        try (PreparedStatement byKey = connection.prepareStatement("SELECT _value FROM big WHERE _key = ?")) {
            for (Object number : new Object[] {7, 7L, (short) 7, "7", new java.math.BigDecimal("7.0"), 7.0}) {
                byKey.setObject(1, number);
                try (ResultSet rows = byKey.executeQuery()) {
                    assertThat(rows.next())
                            .as("%s %s", number.getClass(), number)
                            .isTrue();
                    assertThat(rows.getLong(1)).isEqualTo(7);
                }
            }
            for (Object number : new Object[] {7_000_000_000L, new java.math.BigDecimal("7.5"), -1, ROWS}) {
                byKey.setObject(1, number);
                try (ResultSet rows = byKey.executeQuery()) {
                    assertThat(rows.next())
                            .as("%s %s", number.getClass(), number)
                            .isFalse();
                }
            }
            byKey.setObject(1, null);
            try (ResultSet rows = byKey.executeQuery()) {
                assertThat(rows.next()).isFalse();
            }
        }
    }

    @Test
    void shouldEndAScanThatIsCancelled() throws Exception {
        final ExecutorService threads = Executors.newSingleThreadExecutor();
        final AtomicBoolean ended = new AtomicBoolean();
        final CountDownLatch begun = new CountDownLatch(1);
        final Future<?> canceller = threads.submit(() -> {
            begun.await();
            while (!ended.get()) {
                statement.cancel();
                LockSupport.parkNanos(20_000_000);
            }
            return null;
        });
        try {
            begun.countDown();
            assertThatThrownBy(() -> statement.executeQuery(ENDLESS).next())
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
        } finally {
            ended.set(true);
            canceller.get();
            threads.shutdownNow();
        }
        assertThat(explain("SELECT 1")).isEqualTo("1");
    }

    @Test
    void shouldEndAScanAtItsTimeOut() throws SQLException {
        statement.setQueryTimeout(1);
        assertThatThrownBy(() -> statement.executeQuery(ENDLESS).next())
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
    }

    @Test
    void shouldHaveSeveralResultsOpenAtOnce() throws SQLException {
        try (Statement other = connection.createStatement();
                ResultSet first = statement.executeQuery("SELECT _key FROM big");
                ResultSet second = other.executeQuery("SELECT _key FROM big")) {
            int rows = 0;
            while (first.next()) {
                assertThat(second.next()).isTrue();
                rows++;
            }
            assertThat(rows).isEqualTo(ROWS);
            assertThat(second.next()).isFalse();
        }
    }

    /** Rows are read while others are changed: a scan is no snapshot. */
    @Test
    void shouldChangeRowsDuringAScan() throws SQLException {
        try (Statement other = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT _key FROM big")) {
            int seen = 0;
            while (rows.next() && seen < 300) {
                assertThat(other.executeUpdate("UPDATE big SET _value = -1 WHERE _key = " + rows.getInt(1)))
                        .isEqualTo(1);
                seen++;
            }
        }
        assertThat(explain("SELECT count(*) FROM big WHERE _value = -1")).isEqualTo("300");
    }
}
