package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hibernate without Spring: only the region factory and the URI of a file are set. */
final class HibernateCacheTest {
    private static final String CACHEABLE = "org.hibernate.cacheable";

    @TempDir
    Path directory;

    private SessionFactory sessions;

    /** The content of a region belongs to the database that the application is started with. */
    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("rowan.properties"), """
                dir=%s
                capacity=64m
                template.*.create=true
                template.*.content=fresh
                """.formatted(directory.resolve("store")));
        open("first");
    }

    private void open(String database) {
        sessions = new Configuration()
                .addAnnotatedClass(Book.class)
                .addAnnotatedClass(Author.class)
                .addAnnotatedClass(Copy.class)
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:" + database + ";DB_CLOSE_DELAY=-1")
                .setProperty("hibernate.hbm2ddl.auto", "create")
                .setProperty("hibernate.cache.use_query_cache", "true")
                .setProperty("hibernate.generate_statistics", "true")
                .setProperty("hibernate.cache.region.factory_class", "jcache")
                .setProperty(
                        "hibernate.javax.cache.uri",
                        directory.resolve("rowan.properties").toUri().toString())
                .buildSessionFactory();
    }

    @AfterEach
    void close() {
        sessions.close();
    }

    private void write(Consumer<Session> work) {
        sessions.inTransaction(work);
    }

    private <T> T read(Function<Session, T> work) {
        return sessions.fromTransaction(work);
    }

    /** As {@link #read}, without a statement to the database. */
    private <T> T readFromTheCache(Function<Session, T> work) {
        final Statistics statistics = sessions.getStatistics();
        final long before = statistics.getPrepareStatementCount();
        final T result = read(work);
        assertThat(statistics.getPrepareStatementCount()).as("statements").isEqualTo(before);
        return result;
    }

    private void add(String author, String... isbns) {
        write(session -> {
            final Author created = new Author(author);
            session.persist(created);
            for (String isbn : isbns) {
                created.getBooks().add(new Book(isbn, 1, created));
                session.persist(new Copy(new CopyId(isbn, 1), "shelf of " + isbn));
            }
        });
    }

    private static Integer priceOf(Session session, String isbn) {
        final Book book = session.bySimpleNaturalId(Book.class).load(isbn);
        return book == null ? null : book.getPrice();
    }

    private static List<Integer> prices(Session session) {
        return session.createQuery("select price from Book order by isbn", Integer.class)
                .setHint(CACHEABLE, true)
                .getResultList();
    }

    private static String shelfOf(Session session, String isbn) {
        // Equal, and not the same text twice.
        final Copy copy = session.find(Copy.class, new CopyId(new String(isbn.toCharArray()), 1));
        return copy == null ? null : copy.getShelf();
    }

    private static int booksOf(Session session, String author) {
        return session.bySimpleNaturalId(Author.class).load(author).getBooks().size();
    }

    @Test
    void shouldReadEntitiesCollectionsAndQueriesFromTheCache() {
        add("a", "1", "2");
        read(session -> priceOf(session, "1"));
        read(session -> booksOf(session, "a"));
        read(HibernateCacheTest::prices);
        read(session -> shelfOf(session, "1"));

        assertThat((Object) readFromTheCache(session -> priceOf(session, "1"))).isEqualTo(1);
        assertThat(readFromTheCache(HibernateCacheTest::prices)).containsExactly(1, 1);
        assertThat((Object) readFromTheCache(session -> shelfOf(session, "1"))).isEqualTo("shelf of 1");
        assertThat((Object) read(session -> booksOf(session, "a"))).isEqualTo(2);
        assertThat(sessions.getStatistics()
                        .getDomainDataRegionStatistics(Author.class.getName() + ".books")
                        .getHitCount())
                .isPositive();
    }

    @Test
    void shouldShowEachChange() {
        add("a", "1", "2");
        for (int price = 2; price < 10; price++) {
            final int next = price;
            assertThat((Object) read(session -> priceOf(session, "1"))).isEqualTo(next - 1);
            assertThat(read(HibernateCacheTest::prices)).containsExactly(next - 1, 1);
            write(session -> session.bySimpleNaturalId(Book.class).load("1").setPrice(next));
            write(session -> session.find(Copy.class, new CopyId("1", 1)).setShelf("shelf " + next));
            assertThat((Object) read(session -> shelfOf(session, "1"))).isEqualTo("shelf " + next);
        }
    }

    @Test
    void shouldShowBulkUpdates() {
        add("a", "1", "2");
        read(session -> priceOf(session, "1"));
        read(HibernateCacheTest::prices);
        write(session ->
                session.createMutationQuery("update Book set price = 7").executeUpdate());

        assertThat((Object) read(session -> priceOf(session, "1"))).isEqualTo(7);
        assertThat(read(HibernateCacheTest::prices)).containsExactly(7, 7);
    }

    @Test
    void shouldShowChangesOfACollection() {
        add("a", "1");
        assertThat((Object) read(session -> booksOf(session, "a"))).isEqualTo(1);
        write(session -> {
            final Author author = session.bySimpleNaturalId(Author.class).load("a");
            author.getBooks().add(new Book("2", 1, author));
        });
        assertThat((Object) read(session -> booksOf(session, "a"))).isEqualTo(2);
        write(session ->
                session.bySimpleNaturalId(Author.class).load("a").getBooks().remove(0));
        assertThat((Object) read(session -> booksOf(session, "a"))).isEqualTo(1);
    }

    @Test
    void shouldForgetWhatIsRemoved() {
        add("a", "1", "2");
        read(session -> priceOf(session, "1"));
        read(HibernateCacheTest::prices);
        write(session -> session.bySimpleNaturalId(Author.class)
                .load("a")
                .getBooks()
                .removeIf(book -> book.getIsbn().equals("1")));

        assertThat((Object) read(session -> priceOf(session, "1"))).isNull();
        assertThat(read(HibernateCacheTest::prices)).containsExactly(1);
    }

    @Test
    void shouldNotShowWhatWasRolledBack() {
        add("a", "1");
        read(session -> priceOf(session, "1"));
        try (Session session = sessions.openSession()) {
            session.beginTransaction();
            session.bySimpleNaturalId(Book.class).load("1").setPrice(99);
            session.flush();
            session.getTransaction().rollback();
        }

        assertThat((Object) read(session -> priceOf(session, "1"))).isEqualTo(1);
    }

    /** The store outlives the process, and may meet another database. */
    @Test
    void shouldKnowNothingOfAnotherDatabase() {
        add("a", "1", "2");
        read(session -> priceOf(session, "1"));
        read(HibernateCacheTest::prices);
        read(session -> booksOf(session, "a"));
        sessions.close();
        open("second");

        assertThat(read(HibernateCacheTest::prices)).isEmpty();
        assertThat((Object) read(session -> priceOf(session, "1"))).isNull();
        assertThat((Object) read(session -> shelfOf(session, "1"))).isNull();
        add("b", "1");
        assertThat(read(HibernateCacheTest::prices)).containsExactly(1);
        assertThat((Object) read(session -> booksOf(session, "b"))).isEqualTo(1);
    }
}
