package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.store.SharedStore;

/** Caches that the cache API writes are read and changed by SQL, and the other way round. */
final class CachesAsTablesTest {
    enum Kind {
        NOVEL,
        ESSAY
    }

    record Author(String name, Integer born) implements Serializable {}

    record Book(
            String title,
            int pages,
            BigDecimal price,
            LocalDate published,
            Kind kind,
            Author author,
            List<String> tags,
            Instant seen)
            implements Serializable {}

    @TempDir
    Path directory;

    private String uri;
    private CacheManager manager;
    private Cache<String, Book> books;
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        uri = "rowan:embedded?servers=1&capacity=64m&dir=" + directory;
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(uri), null);
        books = manager.createCache(
                "books", new MutableConfiguration<String, Book>().setTypes(String.class, Book.class));
        connection = DriverManager.getConnection("jdbc:" + uri);
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        manager.close();
    }

    private static Book book(String title, int pages) {
        return new Book(
                title,
                pages,
                new BigDecimal("12.50"),
                LocalDate.of(1998, 5, 1),
                Kind.NOVEL,
                new Author("Ada", 1815),
                List.of("a", "b"),
                Instant.parse("2026-01-02T03:04:05.000000006Z"));
    }

    private List<List<Object>> query(String sql) throws SQLException {
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

    private int update(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    @Test
    void shouldReadWhatTheCacheApiHasWritten() throws SQLException {
        books.put("i1", book("One", 100));
        books.put("i2", book("Two", 200));

        assertThat(query("SELECT title, pages, price, published, kind, author_name, author_born, seen FROM books"
                        + " WHERE _key = 'i1'"))
                .containsExactly(List.of(
                        "One",
                        100,
                        new BigDecimal("12.5"),
                        java.sql.Date.valueOf("1998-05-01"),
                        "NOVEL",
                        "Ada",
                        1815,
                        java.time.OffsetDateTime.parse("2026-01-02T03:04:05.000000006Z")));
        assertThat(query("SELECT sum(PAGES), count(*) FROM Books")).containsExactly(List.of(300L, 2L));
        assertThat(query("SELECT _key FROM books WHERE _key IN ('i2', 'i3', 'i1') ORDER BY 1"))
                .containsExactly(List.of("i1"), List.of("i2"));
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT tags FROM books WHERE _key = 'i2'")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getString(1)).isEqualTo("[\"a\",\"b\"]");
        }
    }

    @Test
    void shouldChangeOnlyTheColumnsThatAreAssigned() throws SQLException {
        books.put("i1", book("One", 100));

        assertThat(update("UPDATE books SET pages = pages + 1, author_born = 1816, kind = 'ESSAY' WHERE _key = 'i1'"))
                .isEqualTo(1);

        final Book before = book("One", 100);
        assertThat(books.get("i1"))
                .isEqualTo(new Book(
                        "One",
                        101,
                        before.price(),
                        before.published(),
                        Kind.ESSAY,
                        new Author("Ada", 1816),
                        before.tags(),
                        before.seen()));
    }

    @Test
    void shouldInsertWhatTheCacheApiReads() throws SQLException {
        books.put("i1", book("One", 100));

        assertThat(
                        update(
                                "INSERT INTO books(_key, title, pages, price, published, kind, author_name) VALUES"
                                        + " ('i2', 'Two', 7, 1.25, DATE '2001-02-03', 'ESSAY', 'Bob'), ('i3', 'Three', 8, NULL, NULL, NULL, NULL)"))
                .isEqualTo(2);

        assertThat(books.get("i2"))
                .isEqualTo(new Book(
                        "Two",
                        7,
                        new BigDecimal("1.25"),
                        LocalDate.of(2001, 2, 3),
                        Kind.ESSAY,
                        new Author("Bob", null),
                        null,
                        null));
        assertThat(books.get("i3")).isEqualTo(new Book("Three", 8, null, null, null, null, null, null));
        assertThatThrownBy(() -> update("INSERT INTO books(_key, title, pages) VALUES ('i2', 'Again', 1)"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
        assertThatThrownBy(() -> update("INSERT INTO books(_key, title, pages) VALUES ('i4', 'No pages', NULL)"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23502"));
    }

    @Test
    void shouldInsertIntoAnEmptyCacheWhoseClassIsKnown() throws SQLException {
        assertThat(update("INSERT INTO books(_key, title, pages, author_born) VALUES ('i1', 'One', 5, 3)"))
                .isEqualTo(1);

        assertThat(books.get("i1")).isEqualTo(new Book("One", 5, null, null, null, new Author(null, 3), null, null));
    }

    @Test
    void shouldMergeByKey() throws SQLException {
        books.put("i1", book("One", 100));

        assertThat(update("MERGE INTO books(_key, title, pages) KEY(_key) VALUES ('i1', 'First', 1), ('i2', 'Two', 2)"))
                .isEqualTo(2);

        assertThat(books.get("i1").title()).isEqualTo("First");
        assertThat(books.get("i1").price()).isEqualTo(new BigDecimal("12.50"));
        assertThat(books.get("i2").pages()).isEqualTo(2);
    }

    @Test
    void shouldDelete() throws SQLException {
        for (int i = 0; i < 700; i++) {
            books.put("i" + i, book("Book " + i, i));
        }

        assertThat(update("DELETE FROM books WHERE pages >= 100")).isEqualTo(600);
        assertThat(query("SELECT count(*) FROM books")).containsExactly(List.of(100L));
        assertThat(books.containsKey("i100")).isFalse();
        assertThat(books.containsKey("i99")).isTrue();
        assertThat(update("TRUNCATE TABLE books")).isGreaterThanOrEqualTo(0);
        assertThat(books.iterator().hasNext()).isFalse();
    }

    @Test
    void shouldShowScalarsAndJoinByKey() throws SQLException {
        final Cache<Long, String> names = manager.createCache(
                "names", new MutableConfiguration<Long, String>().setTypes(Long.class, String.class));
        final Cache<Integer, Long> links = manager.createCache(
                "links", new MutableConfiguration<Integer, Long>().setTypes(Integer.class, Long.class));
        names.putAll(Map.of(1L, "one", 2L, "two", 3L, "three"));
        links.putAll(Map.of(10, 2L, 11, 3L));

        assertThat(query("SELECT l._key, n._value FROM links l JOIN names n ON n._key = l._value ORDER BY 1"))
                .containsExactly(List.of(10, "two"), List.of(11, "three"));
        assertThat(query("EXPLAIN SELECT * FROM links l JOIN names n ON n._key = l._value")
                        .toString())
                .contains("GET: ");
        assertThat(update("INSERT INTO names VALUES (4, 'four')")).isEqualTo(1);
        assertThat(update("UPDATE names SET _value = 'ONE' WHERE _key = 1")).isEqualTo(1);
        assertThat(names.get(4L)).isEqualTo("four");
        assertThat(names.get(1L)).isEqualTo("ONE");
    }

    @Test
    void shouldSeeWhatIsWrittenBetweenExecutions() throws SQLException {
        books.put("i1", book("One", 100));
        try (PreparedStatement count = connection.prepareStatement("SELECT count(*) FROM books");
                PreparedStatement sub = connection.prepareStatement(
                        "SELECT title FROM books WHERE pages IN (SELECT max(pages) FROM books)")) {
            for (int i = 2; i < 5; i++) {
                books.put("i" + i, book("Book " + i, 100 * i));
                try (ResultSet rows = count.executeQuery()) {
                    rows.next();
                    assertThat(rows.getInt(1)).isEqualTo(i);
                    assertThat(rows.getStatement()).isSameAs(count);
                }
                try (ResultSet rows = sub.executeQuery()) {
                    rows.next();
                    assertThat(rows.getString(1)).isEqualTo("Book " + i);
                }
            }
        }
    }

    @Test
    void shouldHaveTheVersionAsAHiddenColumn() throws SQLException {
        books.put("i1", book("One", 100));

        assertThat(query("SELECT * FROM books").get(0)).hasSize(10);
        final long version = (Long) query("SELECT _version FROM books").get(0).get(0);
        assertThat(update("UPDATE books SET pages = 1 WHERE _key = 'i1' AND _version = " + version))
                .isEqualTo(1);
        assertThat(update("UPDATE books SET pages = 2 WHERE _key = 'i1' AND _version = " + version))
                .isZero();
        assertThatThrownBy(() -> update("UPDATE books SET _version = 1")).isInstanceOf(SQLException.class);
        assertThatThrownBy(() -> update("UPDATE books SET _key = 'i9'"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("0A000"));
    }

    @Test
    void shouldCreateACacheOfScalars() throws SQLException {
        assertThat(update("CREATE TABLE counts(_KEY VARCHAR PRIMARY KEY, _VALUE BIGINT NOT NULL)"))
                .isZero();
        assertThat(update("INSERT INTO counts VALUES ('a', 1), ('b', 2)")).isEqualTo(2);
        assertThatThrownBy(() -> update("CREATE TABLE counts(_KEY VARCHAR PRIMARY KEY, _VALUE BIGINT)"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42S01"));
        assertThat(update("CREATE TABLE IF NOT EXISTS counts(_KEY INT, _VALUE INT)"))
                .isZero();

        final Cache<String, Long> counts = manager.createCache(
                "counts", new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
        assertThat(counts.get("b")).isEqualTo(2);
        counts.put("c", 3L);
        assertThat(query("SELECT sum(_value) FROM counts").toString()).isEqualTo("[[6]]");
        assertThat(update("CREATE TABLE doubled(_KEY VARCHAR, _VALUE BIGINT) AS SELECT _key, 2 * _value FROM counts"))
                .isBetween(0, 3);
        assertThat(query("SELECT sum(_value) FROM doubled").toString()).isEqualTo("[[12]]");
        assertThat(update("DROP TABLE counts, doubled")).isZero();
        assertThatThrownBy(() -> query("SELECT * FROM counts")).isInstanceOf(SQLException.class);
    }

    @Test
    void shouldCreateNoTableThatPromisesMoreThanACache() throws SQLException {
        for (String refused : List.of(
                "CREATE TABLE x(_KEY INT PRIMARY KEY, _VALUE INT DEFAULT 7)",
                "CREATE TABLE x(_KEY INT GENERATED ALWAYS AS IDENTITY, _VALUE INT)",
                "CREATE TABLE x(_KEY INT, _VALUE INT ARRAY)",
                "CREATE TABLE x(_KEY INT PRIMARY KEY, _VALUE INT UNIQUE)",
                "CREATE TABLE x(_KEY INT PRIMARY KEY, _VALUE INT CHECK (_VALUE > 0))",
                "CREATE TABLE x(_KEY INT PRIMARY KEY, _VALUE VARCHAR REFERENCES books(_KEY))",
                "ALTER TABLE books ADD CONSTRAINT c CHECK (pages > 0)",
                "ALTER TABLE books ADD x INT",
                "ALTER TABLE books RENAME TO x",
                "CREATE INDEX i ON books(pages)")) {
            assertThatThrownBy(() -> update(refused)).as(refused).isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> query("SELECT * FROM x")).as(refused).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void shouldDropACache() throws SQLException {
        books.put("i1", book("One", 100));

        assertThat(update("DROP TABLE books")).isZero();

        assertThatThrownBy(() -> query("SELECT * FROM books"))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).startsWith("42S0"));
        assertThatThrownBy(() -> books.get("i1")).isInstanceOf(IllegalStateException.class);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldShowTheBytesOfAClientWithoutACodecAsTextIfTheyAre() throws SQLException {
        final RowanClient client = manager.unwrap(SharedStore.class).store().client();
        final int texts = client.catalogue().create("texts", new byte[0]).id();
        assertThat(query("SELECT * FROM texts")).isEmpty();
        client.put(texts, utf8("a"), utf8("Äpfel"));
        client.put(texts, utf8("b"), utf8(""));

        assertThat(query("SELECT * FROM texts ORDER BY 1")).containsExactly(List.of("a", "Äpfel"), List.of("b", ""));
        assertThat(query("EXPLAIN SELECT * FROM texts WHERE _key = 'a'").toString())
                .contains("/* GET: ");
        assertThat(query("SELECT _value FROM texts WHERE _key = 'a'")).containsExactly(List.of("Äpfel"));
        assertThat(update("INSERT INTO texts VALUES ('c', 'é')")).isEqualTo(1);
        assertThat(client.get(texts, utf8("c"))).isEqualTo(utf8("é"));
        assertThat(update("UPDATE texts SET _value = upper(_value) WHERE _key = 'c'"))
                .isEqualTo(1);
        assertThat(client.get(texts, utf8("c"))).isEqualTo(utf8("É"));

        client.put(texts, new byte[] {0, -1}, utf8("x"));
        assertThatThrownBy(() -> query("SELECT * FROM texts")).hasMessageContaining("has text");
        assertThat(query("SELECT _value FROM texts WHERE _key = X'00ff'")).containsExactly(List.of("x"));
        assertThat(query("SELECT _value FROM texts WHERE _key = X'61'")).containsExactly(List.of("Äpfel"));
        assertThat(query("SELECT count(*) FROM texts")).containsExactly(List.of(4L));
    }
}
