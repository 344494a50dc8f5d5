package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.jcache.store.SharedStore;

/** The column {@code _EXPIRES}: the end of what the cache API's policies have given. */
final class LifetimesTest {
    private static final Duration HOUR = new Duration(TimeUnit.HOURS, 1);

    private CacheManager manager;
    private CountedStore store;
    private Connection connection;

    @AfterEach
    void close() throws SQLException {
        connection.close();
        if (store != null) {
            store.close();
        } else {
            manager.close();
        }
    }

    private void open(boolean isRemote) throws SQLException {
        if (isRemote) {
            store = new CountedStore();
            manager = store.manager;
            connection = store.connect();
        } else {
            manager = new RowanCachingProvider()
                    .getCacheManager(URI.create("rowan:embedded?servers=1&capacity=32m&name=lifetimes"), null);
            connection = Connections.open(
                    ConnectionUrl.of("jdbc:rowan:embedded", new java.util.Properties()),
                    manager.unwrap(SharedStore.class),
                    () -> {});
        }
    }

    private Cache<Integer, String> cache(String name, ExpiryPolicy policy) {
        return manager.createCache(
                name,
                new MutableConfiguration<Integer, String>()
                        .setTypes(Integer.class, String.class)
                        .setExpiryPolicyFactory(() -> policy));
    }

    private List<Object> column(String sql) throws SQLException {
        final List<Object> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getObject(1));
            }
        }
        return found;
    }

    private int update(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowTheEndOfEachLifetime(boolean isRemote) throws SQLException {
        open(isRemote);
        final Cache<Integer, String> created = cache("created", new CreatedExpiryPolicy(HOUR));
        manager.createCache(
                        "eternal", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class))
                .put(1, "one");
        final Instant before = Instant.now();
        created.put(1, "one");
        created.put(2, "two");
        final Instant after = Instant.now();

        final List<Object> ends = column("SELECT _expires FROM created");
        assertThat(ends)
                .hasSize(2)
                .allSatisfy(end -> assertThat(((OffsetDateTime) end).toInstant())
                        .isBetween(before.plusSeconds(3_599), after.plusSeconds(3_601)));
        assertThat(column("SELECT _expires FROM created WHERE _key = 2"))
                .hasSize(1)
                .doesNotContainNull();
        assertThat(column("SELECT _expires FROM created WHERE _key IN (1, 2, 3)"))
                .hasSize(2)
                .doesNotContainNull();
        assertThat(column("SELECT c._expires FROM eternal e JOIN created c ON c._key = e._key"))
                .hasSize(1)
                .doesNotContainNull();
        assertThat(column("SELECT _expires FROM eternal")).containsExactly((Object) null);
        assertThat(column("SELECT _key FROM created WHERE _expires > CURRENT_TIMESTAMP ORDER BY _key"))
                .containsExactly(1, 2);
        assertThat(column("SELECT _key FROM created WHERE _expires < CURRENT_TIMESTAMP"))
                .isEmpty();
        assertThat(column("SELECT count(_expires) FROM created")).containsExactly(2L);
        assertThat(column("SELECT max(_value) FROM created GROUP BY _expires IS NULL"))
                .containsExactly("two");
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM created")) {
            assertThat(rows.getMetaData().getColumnCount()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFollowAnAccessOfTheCacheApiAndNoneOfItsOwn(boolean isRemote) throws Exception {
        open(isRemote);
        final Cache<Integer, String> accessed = cache("accessed", new AccessedExpiryPolicy(HOUR));
        accessed.put(1, "one");
        final Object first = column("SELECT _expires FROM accessed").get(0);
        TimeUnit.MILLISECONDS.sleep(5);
        assertThat(column("SELECT _expires FROM accessed WHERE _key = 1")).containsExactly(first);
        accessed.get(1);
        final OffsetDateTime second =
                (OffsetDateTime) column("SELECT _expires FROM accessed").get(0);
        assertThat(second).isAfter((OffsetDateTime) first);
        assertThat(update("UPDATE accessed SET _value = 'ONE' WHERE _expires > CURRENT_TIMESTAMP"))
                .isEqualTo(1);
        assertThat(column("SELECT _value FROM accessed")).containsExactly("ONE");
        // UPDATE gives the remaining lifetime, which the server rounds to its clock's milliseconds
        assertThat(column("SELECT _expires FROM accessed")).doesNotContainNull();
    }

    @Test
    void shouldShowNoRowWhoseLifetimeIsOver() throws SQLException {
        open(true);
        final Cache<Integer, String> ended = cache("ended", new CreatedExpiryPolicy(Duration.ZERO));
        ended.put(1, "one");
        final Cache<Integer, String> brief =
                cache("brief", new CreatedExpiryPolicy(new Duration(TimeUnit.MILLISECONDS, 1)));
        brief.put(1, "one");
        while (brief.containsKey(1)) {
            Thread.onSpinWait();
        }

        assertThat(column("SELECT _expires FROM ended")).isEmpty();
        assertThat(column("SELECT _expires FROM brief")).isEmpty();
        assertThat(column("SELECT _expires FROM brief WHERE _key = 1")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseToAssignIt(boolean isRemote) throws SQLException {
        open(isRemote);
        cache("created", new CreatedExpiryPolicy(HOUR)).put(1, "one");
        manager.createCache(
                        "eternal", new MutableConfiguration<Integer, String>().setTypes(Integer.class, String.class))
                .put(1, "one");
        for (String sql : List.of(
                "UPDATE created SET _expires = NULL",
                "UPDATE created SET _expires = CURRENT_TIMESTAMP WHERE _key = 1",
                "UPDATE created SET \"_EXPIRES\" = NULL, _value = 'x'",
                "UPDATE created SET U&\"\\005fEXPIRES\" = NULL",
                "UPDATE eternal SET _expires = CURRENT_TIMESTAMP",
                "INSERT INTO eternal(_key, _value, _expires) VALUES (2, 'two', CURRENT_TIMESTAMP)")) {
            assertThatThrownBy(() -> update(sql))
                    .as(sql)
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("22018"))
                    .hasMessageContaining("_EXPIRES");
        }
        try (Statement statement = connection.createStatement()) {
            statement.addBatch("UPDATE created SET _expires = NULL");
            assertThatThrownBy(statement::executeBatch).hasMessageContaining("_EXPIRES");
        }
        assertThat(column("SELECT _value FROM created WHERE _expires IS NOT NULL"))
                .containsExactly("one");
        assertThat(update("DELETE FROM created WHERE _expires < CURRENT_TIMESTAMP"))
                .isZero();
        assertThat(update("DELETE FROM created WHERE _expires > CURRENT_TIMESTAMP"))
                .isEqualTo(1);
        assertThat(column("SELECT _key FROM eternal")).containsExactly(1);
    }

    /** A prepared statement whose rows are read while others run keeps what it has asked for. */
    @Test
    void shouldServeSeveralOpenResults() throws SQLException {
        open(true);
        final Cache<Integer, String> created = cache("created", new CreatedExpiryPolicy(HOUR));
        for (int i = 0; i < 50; i++) {
            created.put(i, "v");
        }
        try (PreparedStatement ends = connection.prepareStatement("SELECT _expires FROM created");
                ResultSet rows = ends.executeQuery()) {
            int count = 0;
            while (rows.next()) {
                assertThat(rows.getObject(1)).isNotNull();
                if (count++ == 3) {
                    assertThat(update("UPDATE created SET _value = 'w' WHERE _key = 7"))
                            .isEqualTo(1);
                }
            }
            assertThat(count).isEqualTo(50);
        }
    }

    @Test
    void shouldNotJoinByHiddenColumns() throws SQLException {
        open(false);
        cache("a", new CreatedExpiryPolicy(HOUR)).put(1, "x");
        cache("b", new CreatedExpiryPolicy(HOUR)).put(1, "x");
        assertThat(column("SELECT count(*) FROM a NATURAL JOIN b")).containsExactly(1L);
    }
}
