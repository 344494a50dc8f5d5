package org.rowankv.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No change is lost or made twice where several writers change the same rows. */
final class WritersAtOnceTest {
    private static final String URL = "rowan:embedded?servers=1&capacity=64m&name=writers";
    private static final int ROWS = 300;
    private static final int CALLERS = 16;
    private static final int UPDATES = 150;

    private CacheManager manager;
    private Cache<Integer, Long> counts;
    private ExecutorService threads;

    @BeforeEach
    void open() {
        manager = Caching.getCachingProvider("org.rowankv.jcache.spi.RowanCachingProvider")
                .getCacheManager(URI.create(URL), null);
        counts = manager.createCache(
                "counts", new MutableConfiguration<Integer, Long>().setTypes(Integer.class, Long.class));
        for (int i = 0; i < ROWS; i++) {
            counts.put(i, 0L);
        }
        threads = Executors.newFixedThreadPool(CALLERS);
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        manager.close();
    }

    private static long update(String sql, int times) throws SQLException {
        long changed = 0;
        try (Connection connection = DriverManager.getConnection("jdbc:" + URL);
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < times; i++) {
                changed += statement.executeUpdate(sql);
            }
        }
        return changed;
    }

    private long sum() {
        long sum = 0;
        for (Cache.Entry<Integer, Long> entry : counts) {
            sum += entry.getValue();
        }
        return sum;
    }

    @Test
    void shouldLoseNoUpdateOfOneRow() throws Exception {
        final List<Future<Long>> writers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            writers.add(threads.submit(() -> update("UPDATE counts SET _value = _value + 1 WHERE _key = 7", UPDATES)));
        }
        long changed = 0;
        for (Future<Long> writer : writers) {
            changed += writer.get();
        }

        System.out.println("jdbc-updates: callers=" + CALLERS + " updates=" + CALLERS * UPDATES + " lost="
                + (CALLERS * UPDATES - counts.get(7)));
        assertThat(changed).isEqualTo(CALLERS * UPDATES);
        assertThat(counts.get(7)).isEqualTo(CALLERS * UPDATES);
    }

    @Test
    void shouldLoseNoUpdateOfManyRows() throws Exception {
        final List<Future<Long>> writers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            writers.add(threads.submit(() -> update("UPDATE counts SET _value = _value + 1", 20)));
        }
        writers.add(threads.submit((Callable<Long>) () -> {
            for (int i = 0; i < 20 * ROWS; i++) {
                counts.invoke(i % ROWS, (entry, arguments) -> {
                    entry.setValue(entry.getValue() + 1);
                    return null;
                });
            }
            return 20L * ROWS;
        }));
        long changed = 0;
        for (Future<Long> writer : writers) {
            changed += writer.get();
        }

        assertThat(changed).isEqualTo(80L * ROWS);
        assertThat(sum()).isEqualTo(80L * ROWS);
    }

    /** Each batch changes its rows as often as it says, and no entry fails for another's write. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE counts SET _value = _value + 1 WHERE _key = ?",
                "UPDATE counts SET _value = _value + 1 WHERE _key BETWEEN ? AND 9",
                "UPDATE counts SET _value = _value + 1 WHERE _key IN (SELECT ?)"
            })
    void shouldLoseNoUpdateOfABatch(String sql) throws Exception {
        final List<Future<Long>> writers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            final int first = i;
            writers.add(threads.submit(() -> {
                long changed = 0;
                try (Connection connection = DriverManager.getConnection("jdbc:" + URL);
                        PreparedStatement update = connection.prepareStatement(sql)) {
                    for (int round = 0; round < 10; round++) {
                        for (int entry = 0; entry < 40; entry++) {
                            update.setInt(1, (first + entry) % 10);
                            update.addBatch();
                        }
                        changed += IntStream.of(update.executeBatch()).sum();
                    }
                }
                return changed;
            }));
        }
        long changed = 0;
        for (Future<Long> writer : writers) {
            changed += writer.get();
        }

        assertThat(changed).isEqualTo(sql.contains("BETWEEN") ? 4 * 10 * 220 : 4 * 10 * 40);
        assertThat(sum()).isEqualTo(changed);
    }

    /**
     * A row that another writer changes is deleted only if the condition holds for what is there then. The condition of each
     * row takes a while, so that rows change between their reading and their removal.
     */
    @Test
    void shouldDeleteNoRowThatNoLongerMatches() throws Exception {
        final String slowly = "(SELECT max(x) FROM system_range(1, 500) WHERE x <> c._key) > 0";
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < ROWS; i++) {
                counts.put(i, 0L);
            }
            final Future<Long> deleted =
                    threads.submit(() -> update("DELETE FROM counts c WHERE _value = 0 AND " + slowly, 3));
            final List<Integer> kept = new ArrayList<>();
            for (int i = ROWS - 1; i >= 0; i--) {
                if (counts.replace(i, 0L, 1L)) {
                    kept.add(i);
                }
            }

            assertThat(deleted.get() + kept.size()).isEqualTo(ROWS);
            assertThat(kept).allSatisfy(key -> assertThat(counts.get(key)).isEqualTo(1L));
        }
    }

    @Test
    void shouldCountEachRowThatOneOfSeveralDeletes() throws Exception {
        final List<Future<Long>> writers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            writers.add(threads.submit(() -> update("DELETE FROM counts", 1)));
        }
        long deleted = 0;
        for (Future<Long> writer : writers) {
            deleted += writer.get();
        }

        assertThat(deleted).isEqualTo(ROWS);
    }
}
