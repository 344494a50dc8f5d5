package org.rowankv.bench.sql;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** The measurement, in a JVM of its own: prints a line for each name and value. */
final class SqlRatesRun {
    /** Before each name that is printed: a library may print as well. */
    static final String MARK = "sql.";

    private static final int BATCH = 5_000;
    private static final long CAPACITY_PER_ROW = 160;

    private final String directory;
    private final int rows;
    private final int rounds;
    private final int calls;
    private final SplittableRandom random = new SplittableRandom(23);
    /** So that nothing that was read is optimised away. */
    private long read;

    private SqlRatesRun(String directory, int rows, int rounds, int calls) {
        this.directory = directory;
        this.rows = rows;
        this.rounds = rounds;
        this.calls = calls;
    }

    public static void main(String[] args) throws SQLException {
        new SqlRatesRun(args[0], Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3])).run();
    }

    private void run() throws SQLException {
        final String uri = "rowan:embedded?dir=" + directory + "&servers=1&capacity="
                + ((64 << 20) + rows * CAPACITY_PER_ROW) / (1 << 20) + "m";
        try (CacheManager manager = Caching.getCachingProvider(RowanCachingProvider.class.getName())
                        .getCacheManager(URI.create(uri), null);
                Connection connection = DriverManager.getConnection("jdbc:" + uri)) {
            final Cache<Integer, Long> cache = manager.createCache(
                    "measured", new MutableConfiguration<Integer, Long>().setTypes(Integer.class, Long.class));
            final long fillNs = System.nanoTime();
            fill(connection);
            print("insert_rows_per_s", rows / seconds(fillNs));
            points(connection, cache);
            scans(connection, cache);
        }
        print("read", read);
    }

    private static double seconds(long sinceNs) {
        return (System.nanoTime() - sinceNs) / 1e9;
    }

    private static void print(String name, double value) {
        System.out.printf(Locale.ROOT, "%s%s %.6f%n", MARK, name, value);
    }

    private void fill(Connection connection) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO measured VALUES (?, ?)")) {
            for (int i = 0; i < rows; i++) {
                insert.setInt(1, i);
                insert.setLong(2, i);
                insert.addBatch();
                if (i % BATCH == BATCH - 1 || i == rows - 1) {
                    insert.executeBatch();
                }
            }
        }
    }

    private void points(Connection connection, Cache<Integer, Long> cache) throws SQLException {
        final double[] gets = new double[rounds];
        final double[] selects = new double[rounds];
        try (PreparedStatement select = connection.prepareStatement("SELECT _value FROM measured WHERE _key = ?")) {
            for (int round = -2; round < rounds; round++) { // two to warm up
                final double get = get(cache);
                final double byKey = select(select);
                if (round >= 0) {
                    gets[round] = get;
                    selects[round] = byKey;
                }
            }
        }
        print("get_us", median(gets));
        print("select_us", median(selects));
    }

    private double get(Cache<Integer, Long> cache) {
        final long startNs = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            read += cache.get(random.nextInt(rows));
        }
        return 1e6 * seconds(startNs) / calls;
    }

    private double select(PreparedStatement select) throws SQLException {
        final long startNs = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            select.setInt(1, random.nextInt(rows));
            try (ResultSet found = select.executeQuery()) {
                found.next();
                read += found.getLong(1);
            }
        }
        return 1e6 * seconds(startNs) / calls;
    }

    private static double median(double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private void scans(Connection connection, Cache<Integer, Long> cache) throws SQLException {
        final double[] iterated = new double[rounds];
        final double[] summed = new double[rounds];
        final double[] counted = new double[rounds];
        for (int round = -1; round < rounds; round++) {
            long startNs = System.nanoTime();
            long entries = 0;
            for (Cache.Entry<Integer, Long> entry : cache) {
                read += entry.getValue();
                entries++;
            }
            requireAll(entries);
            final double iterator = rows / seconds(startNs);
            startNs = System.nanoTime();
            read += query(connection, "SELECT count(_value), sum(_value) FROM measured");
            final double sum = rows / seconds(startNs);
            startNs = System.nanoTime();
            read += query(connection, "SELECT count(*) FROM measured");
            final double count = rows / seconds(startNs);
            if (round >= 0) {
                iterated[round] = iterator;
                summed[round] = sum;
                counted[round] = count;
            }
        }
        print("iterator_rows_per_s", median(iterated));
        print("sum_rows_per_s", median(summed));
        print("count_rows_per_s", median(counted));
        print(
                "heap_mb",
                (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / 1e6);
    }

    private long query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            found.next();
            requireAll(found.getLong(1));
            return found.getLong(1);
        }
    }

    private void requireAll(long found) {
        if (found != rows) {
            throw new IllegalStateException(found + " rows were read, and there are " + rows);
        }
    }
}
