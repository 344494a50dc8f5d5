package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.CreatedExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Objects of every type that the codec has are read as SQL values, and written from them without loss. */
final class StoredTypesTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=64m&name=types";

    /** Writes itself, so that only its class can read it. */
    static final class Itself implements Serializable {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("UnusedVariable")
        private transient int x;

        private void writeObject(java.io.ObjectOutputStream out) throws java.io.IOException {
            out.writeInt(7);
        }

        private void readObject(java.io.ObjectInputStream in) throws java.io.IOException {
            x = in.readInt();
        }
    }

    record Inner(Integer a, String b) implements Serializable {}

    record Outer(Inner inner, Object any, int count) implements Serializable {}

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

    private int update(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    private String first(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getString(1) : "no row";
        }
    }

    private Cache<Object, Object> cache() {
        return manager.createCache("c", new MutableConfiguration<>());
    }

    static Stream<Object> objects() {
        return Stream.of(
                "text",
                "",
                "\u20ac \ud83d\ude00",
                true,
                (byte) -7,
                (short) 300,
                Integer.MIN_VALUE,
                Long.MAX_VALUE,
                1.5f,
                -0.1,
                Double.NaN,
                'x',
                new byte[] {0, -1, 7},
                UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"),
                new BigInteger("123456789012345678901234567890"),
                new BigDecimal("-12.75"),
                new BigDecimal("1e40"),
                new Date(1_234_567_890_123L),
                Instant.parse("2026-01-02T03:04:05.123456789Z"),
                LocalDate.of(1582, 10, 15),
                LocalTime.of(23, 59, 59, 999_999_999),
                LocalDateTime.of(2026, 2, 3, 4, 5, 6, 7),
                ZonedDateTime.of(2026, 2, 3, 4, 5, 6, 7, ZoneOffset.ofHours(2)),
                OffsetDateTime.of(2026, 2, 3, 4, 5, 6, 7, ZoneOffset.ofHours(-3)),
                OffsetTime.of(1, 2, 3, 4, ZoneOffset.ofHours(1)),
                Duration.ofSeconds(-5, 3),
                Duration.ofDays(400),
                Period.of(1, 2, 3),
                Year.of(2026),
                YearMonth.of(2026, 11),
                MonthDay.of(2, 29),
                ZoneOffset.ofHoursMinutes(5, 30),
                DayOfWeek.FRIDAY);
    }

    @ParameterizedTest
    @MethodSource("objects")
    void shouldKeepAValue(Object object) throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, object);

        assertThat(update("INSERT INTO c SELECT 2, _value FROM c WHERE _key = 1"))
                .isEqualTo(1);

        assertThat(cache.get(2)).isEqualTo(cache.get(1)).hasSameClassAs(object);
        manager.destroyCache("c");
    }

    @ParameterizedTest
    @MethodSource("objects")
    void shouldFindAKey(Object object) throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(object, 1);

        assertThat(first("SELECT a._value FROM c a JOIN c b ON a._key = b._key"))
                .isEqualTo("1");
        assertThat(update("UPDATE c SET _value = 2")).isEqualTo(1);
        assertThat(cache.get(object)).isEqualTo(2);
        assertThat(update("DELETE FROM c WHERE _key = (SELECT _key FROM c)")).isEqualTo(1);
        assertThat(cache.containsKey(object)).isFalse();
        manager.destroyCache("c");
    }

    @Test
    void shouldShowCollectionsAsJson() throws SQLException {
        final Cache<Object, Object> cache = cache();
        final Map<String, Object> map = new LinkedHashMap<>();
        map.put("a\"b", List.of(1, 2.5, "x\n"));
        map.put("n", null);
        final List<Object> all = List.of(
                new ArrayList<>(List.of(1, "b", true)),
                new HashMap<>(Map.of(1, "one")),
                map,
                new TreeMap<>(Map.of("k", DayOfWeek.MONDAY)),
                Map.of("r", new Inner(1, null)),
                new int[] {1, 2});
        for (int i = 0; i < all.size(); i++) {
            cache.put(i, all.get(i));
        }

        assertThat(first("SELECT _value FROM c WHERE _key = 0")).isEqualTo("[1,\"b\",true]");
        assertThat(first("SELECT _value FROM c WHERE _key = 1")).isEqualTo("{\"1\":\"one\"}");
        assertThat(first("SELECT _value FROM c WHERE _key = 2")).isEqualTo("{\"a\\\"b\":[1,2.5,\"x\\n\"],\"n\":null}");
        assertThat(first("SELECT _value FROM c WHERE _key = 3")).isEqualTo("{\"k\":\"MONDAY\"}");
        assertThat(first("SELECT _value FROM c WHERE _key = 4")).isEqualTo("{\"r\":{\"a\":1,\"b\":null}}");
        assertThat(first("SELECT _value FROM c WHERE _key = 5")).isEqualTo("[1,2]");
        assertThatThrownBy(() -> update("UPDATE c SET _value = JSON '[]'")).hasMessageContaining("read only");
    }

    @Test
    void shouldShowSeveralTypesAsText() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, "one");
        cache.put("two", 2L);

        assertThat(first("SELECT _value FROM c WHERE _key = '1'")).isEqualTo("one");
        assertThat(first("SELECT _value FROM c WHERE _key = 'two'")).isEqualTo("2");
        assertThatThrownBy(() -> update("UPDATE c SET _value = 'x'")).hasMessageContaining("read only");
        assertThat(update("DELETE FROM c WHERE _key = 'two'")).isEqualTo(1);
        assertThat(cache.containsKey("two")).isFalse();
    }

    /** Equal decimals are several keys, and SQL tells them apart by nothing. */
    @Test
    void shouldChangeTheEntryThatItHasRead() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(new BigDecimal("1.5"), 1);
        cache.put(new BigDecimal("1.50"), 2);
        cache.put(ZonedDateTime.of(2026, 2, 3, 4, 5, 6, 7, java.time.ZoneId.of("Europe/Zurich")), 3);

        assertThat(update("UPDATE c SET _value = _value + 10")).isEqualTo(3);
        assertThat(cache.get(new BigDecimal("1.50"))).isEqualTo(12);
        assertThat(update("DELETE FROM c WHERE _value = 12")).isEqualTo(1);
        assertThat(cache.containsKey(new BigDecimal("1.5"))).isTrue();
        assertThat(cache.containsKey(new BigDecimal("1.50"))).isFalse();
    }

    @Test
    void shouldShowWhatNeedsItsClassAsBytes() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, new Itself());

        assertThat(first("SELECT octet_length(_value) > 10 FROM c")).isEqualTo("TRUE");
        assertThatThrownBy(() -> update("UPDATE c SET _value = X'00'")).hasMessageContaining("read only");
        assertThat(cache.get(1)).isInstanceOf(Itself.class);
    }

    @Test
    void shouldChangeInnerObjects() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, new Outer(new Inner(1, "b"), "any", 5));
        cache.put(2, new Outer(null, 7L, 6));

        assertThat(update("UPDATE c SET inner_a = 9, count = count + 1")).isEqualTo(2);

        assertThat(cache.get(1)).isEqualTo(new Outer(new Inner(9, "b"), "any", 6));
        assertThat(cache.get(2)).isEqualTo(new Outer(new Inner(9, null), 7L, 7));
        assertThat(update("UPDATE c SET inner_a = NULL WHERE _key = 1")).isEqualTo(1);
        assertThat(cache.get(1)).isEqualTo(new Outer(new Inner(null, "b"), "any", 6));
    }

    /** The first statement that meets it fails, the next has a column for it. */
    @Test
    void shouldLearnFromAnEntryThatDoesNotFit() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, 1L);
        assertThat(first("SELECT _value FROM c WHERE _key = 1")).isEqualTo("1");

        cache.put(1, "text");

        assertThatThrownBy(() -> first("SELECT _value FROM c WHERE _key = 1")).hasMessageContaining("once more");
        assertThat(first("SELECT _value FROM c WHERE _key = 1")).isEqualTo("text");
    }

    @Test
    void shouldInsertOnlyWhereEntriesDoNotExpire() throws SQLException {
        final Cache<Object, Object> cache = manager.createCache(
                "c",
                new MutableConfiguration<>()
                        .setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(javax.cache.expiry.Duration.ONE_DAY)));
        cache.put(1, "one");

        assertThatThrownBy(() -> update("INSERT INTO c VALUES (2, 'two')"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("0A000"));
        assertThat(update("UPDATE c SET _value = 'ONE'")).isEqualTo(1);
        assertThat(cache.get(1)).isEqualTo("ONE");
    }

    @Test
    void shouldKeepLongTexts() throws SQLException {
        final Cache<Object, Object> cache = cache();
        cache.put(1, "x".repeat(2_000_000));

        assertThat(first("SELECT _value FROM c")).hasSize(2_000_000);
        assertThat(update("UPDATE c SET _value = _value || 'y'")).isEqualTo(1);
        assertThat((String) cache.get(1)).hasSize(2_000_001);
        assertThat(update("DELETE FROM c WHERE _key = 1")).isEqualTo(1);
    }
}
