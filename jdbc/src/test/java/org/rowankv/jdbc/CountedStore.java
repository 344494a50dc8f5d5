package org.rowankv.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import javax.cache.CacheManager;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.Session;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.jcache.store.Store;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;

/** A store in this JVM that counts what clients ask of it, and says that its servers are elsewhere. */
final class CountedStore implements AutoCloseable {
    /** Pages of scans. */
    final AtomicInteger pages = new AtomicInteger();
    /** Requests that were sent alone. */
    final List<Operation> alone = new CopyOnWriteArrayList<>();
    /** Numbers of requests that were sent together. */
    final List<Integer> together = new CopyOnWriteArrayList<>();

    /** Called with the number of each page before it is read. */
    volatile IntConsumer beforePage = page -> {};
    /** Called with requests before they are sent together. */
    volatile java.util.function.Consumer<List<Request>> beforeTogether = requests -> {};

    /** What each creation of a cache ends with; null: it succeeds. */
    volatile RuntimeException refusal;

    final CacheManager manager;

    /** Of another client, which is not counted. */
    final RowanClient other;

    CountedStore() {
        final EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(with -> with.capacityBytes = 64 << 20));
        final Session session = (Session) Proxy.newProxyInstance(
                Session.class.getClassLoader(), new Class<?>[] {Session.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "isRemote" -> {
                            return true;
                        }
                        case "scan" -> beforePage.accept(pages.incrementAndGet());
                        case "call" -> alone.add(((Request) arguments[0]).operation());
                        case "callAll" -> noteAll(arguments[0]);
                        case "catalogue" -> {
                            return refusing(cluster.session().catalogue());
                        }
                        default -> {}
                    }
                    try {
                        return method.invoke(cluster.session(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        other = new RowanClient(cluster.session(), SystemClock.INSTANCE, SecureSeed.source());
        final Store store = new Store() {
            private final RowanClient client = new RowanClient(session, SystemClock.INSTANCE, SecureSeed.source());

            @Override
            public RowanClient client() {
                return client;
            }

            @Override
            public String durability() {
                return cluster.durability();
            }

            @Override
            public Clock clock() {
                return SystemClock.INSTANCE;
            }

            @Override
            public <T> T unwrap(Class<T> type) {
                return null;
            }

            @Override
            public void close() {
                client.close();
                other.close();
                cluster.close();
            }
        };
        manager = new RowanCachingProvider(settings -> store) {}.getCacheManager(URI.create("rowan:embedded"), null);
    }

    private Catalogue refusing(Catalogue catalogue) {
        return (Catalogue) Proxy.newProxyInstance(
                Catalogue.class.getClassLoader(), new Class<?>[] {Catalogue.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("create") && refusal != null) {
                        throw refusal;
                    }
                    try {
                        return method.invoke(catalogue, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @SuppressWarnings("unchecked")
    private void noteAll(Object requests) {
        final List<Request> all = (List<Request>) requests;
        final long keys =
                all.stream().map(each -> ByteBuffer.wrap(each.key())).distinct().count();
        if (all.get(0).operation().isMutation() && keys < all.size()) {
            throw new AssertionError("requests that are sent together have no order, and these have a key in common");
        }
        together.add(all.size());
        beforeTogether.accept(all);
    }

    Connection connect() throws SQLException {
        return Connections.open(
                ConnectionUrl.of("jdbc:rowan:embedded", new Properties()), manager.unwrap(SharedStore.class), () -> {});
    }

    void forget() {
        pages.set(0);
        alone.clear();
        together.clear();
    }

    @Override
    public void close() {
        manager.close();
    }
}
