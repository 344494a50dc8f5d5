package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.hibernate.cache.spi.access.SoftLock;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;

/** What Hibernate sees of regions whose servers are away for a while. */
final class HibernateRegionsTest {
    private record Lock(int number) implements SoftLock {}

    /** As Hibernate's keys of queries, it equals no null, but throws. */
    private record Query(String text) {
        @Override
        public boolean equals(Object other) {
            return text.equals(((Query) other).text);
        }

        @Override
        public int hashCode() {
            return text.hashCode();
        }
    }

    private final RuntimeException away = new CacheException(new RowanException(Status.UNREACHABLE, "away"));
    private final Map<Object, Object> content = new HashMap<>();
    private final List<String> called = new ArrayList<>();
    private RuntimeException failure;

    private Cache<Object, Object> region(String name, CacheErrors errors) {
        final ClassLoader loader = Cache.class.getClassLoader();
        final Object cache =
                Proxy.newProxyInstance(loader, new Class<?>[] {Cache.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getName")) {
                        return name;
                    }
                    called.add(method.getName());
                    if (failure != null) {
                        throw failure;
                    }
                    return switch (method.getName()) {
                        case "get" -> content.get(arguments[0]);
                        case "put" -> content.put(arguments[0], arguments[1]);
                        case "remove" -> content.remove(arguments[0]) != null;
                        default -> throw new UnsupportedOperationException(method.getName());
                    };
                });
        final CacheManager manager = (CacheManager) Proxy.newProxyInstance(
                loader, new Class<?>[] {CacheManager.class}, (proxy, method, arguments) -> cache);
        return new HibernateRegions(new CacheFailures(errors, SystemClock.INSTANCE))
                .of(manager)
                .getCache(name);
    }

    private Cache<Object, Object> region() {
        return region("hibernate.app.Book", CacheErrors.LOG);
    }

    @Test
    void shouldReadAndWriteWhileTheServersAreThere() {
        region().put("k", "v");
        assertThat(region().get("k")).isEqualTo("v");
        assertThat(region().remove("k")).isTrue();
        assertThat(region().get("k")).isNull();
    }

    @Test
    void shouldPutResultsOfQueries() {
        final Cache<Object, Object> region = region("hibernate.default-query-results-region", CacheErrors.LOG);
        region.put(new Query("q"), "v");
        failure = away;
        assertThat(region.get(new Query("p"))).isNull();
        failure = null;
        region.put(new Query("q"), "w");
        assertThat(content).containsEntry(new Query("q"), "w");
    }

    @Test
    void shouldMissWhatCannotBeRead() {
        final Cache<Object, Object> region = region();
        failure = away;
        assertThat(region.get("k")).isNull();
        region.put("k", "v");
        region.put("other", "v");
        assertThat(called).as("no second wait for one key").containsExactly("get", "put");
    }

    /** What is there may be newer, or a lock: Hibernate has not seen it. */
    @Test
    void shouldNotReplaceWhatCouldNotBeRead() {
        content.put("k", "newer");
        final Cache<Object, Object> region = region();
        failure = away;
        assertThat(region.get("k")).isNull();
        failure = null;
        region.put("k", "older");
        assertThat(content).containsEntry("k", "newer");

        assertThat(region.get("k")).isEqualTo("newer");
        region.put("k", "newest");
        assertThat(content).containsEntry("k", "newest");
    }

    @Test
    void shouldThrowWhatProtectsAChange() {
        final Cache<Object, Object> region = region();
        failure = away;
        assertThat(region.get("k")).isNull();
        assertThatThrownBy(() -> region.put("k", new Lock(1))).isSameAs(away);
        assertThatThrownBy(() -> region.remove("k")).isSameAs(away);
        failure = null;
        region.put("k", new Lock(2));
        assertThat(content).containsEntry("k", new Lock(2));
    }

    /** Hibernate takes a table without a last change for unchanged. */
    @Test
    void shouldTakeATableForChangedWhoseLastChangeCannotBeRead() {
        final Cache<Object, Object> region = region("hibernate.default-update-timestamps-region", CacheErrors.LOG);
        failure = away;
        assertThat(region.get("books")).isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> region.put("books", 1L)).isSameAs(away);
        failure = null;
        assertThat(region.get("books")).isNull();
        region.put("books", 1L);
        assertThat(content).containsEntry("books", 1L);
    }

    @Test
    void shouldThrowEverythingIfItShallAndWhatIsNoOutage() {
        failure = away;
        assertThatThrownBy(() -> region("r", CacheErrors.THROW).get("k")).isSameAs(away);
        failure = new CacheException("refused");
        assertThatThrownBy(() -> region().get("k")).isSameAs(failure);
        assertThatThrownBy(() -> region().put("k", "v")).isSameAs(failure);
    }
}
