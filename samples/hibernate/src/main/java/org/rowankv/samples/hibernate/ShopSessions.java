package org.rowankv.samples.hibernate;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/**
 * Session factories of one database, as two applications would have them: each has a cache manager of its own, all have
 * one store. Hibernate knows of its cache nothing but a URI. Thread-safe.
 */
public final class ShopSessions implements AutoCloseable {
    private final List<SessionFactory> factories;

    private ShopSessions(List<SessionFactory> factories) {
        this.factories = factories;
    }

    /**
     * Opens factories; the database is made by the first.
     *
     * @param database its name, in memory
     * @param uri of a file with the settings of the cache
     */
    public static ShopSessions open(String database, String uri, int factories) {
        return new ShopSessions(IntStream.range(0, factories)
                .mapToObj(number -> open(database, uri))
                .toList());
    }

    private static SessionFactory open(String database, String uri) {
        return new Configuration()
                .addAnnotatedClass(Country.class)
                .addAnnotatedClass(Address.class)
                .addAnnotatedClass(Supplier.class)
                .addAnnotatedClass(Product.class)
                .addAnnotatedClass(Stock.class)
                .addAnnotatedClass(Offer.class)
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:" + database + ";DB_CLOSE_DELAY=-1")
                .setProperty("hibernate.connection.pool_size", "20")
                .setProperty("hibernate.hbm2ddl.auto", "update")
                .setProperty("hibernate.generate_statistics", "true")
                .setProperty("hibernate.session.events.log", "false")
                .setProperty("hibernate.cache.use_query_cache", "true")
                .setProperty("hibernate.cache.region.factory_class", "jcache")
                .setProperty("hibernate.javax.cache.uri", uri)
                .buildSessionFactory();
    }

    public List<SessionFactory> factories() {
        return factories;
    }

    SessionFactory any(Random random) {
        return factories.get(random.nextInt(factories.size()));
    }

    @Override
    public void close() {
        factories.forEach(SessionFactory::close);
    }
}
