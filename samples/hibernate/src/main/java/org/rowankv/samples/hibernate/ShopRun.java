package org.rowankv.samples.hibernate;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.hibernate.stat.Statistics;

/**
 * Customers at work in one database after another, all over one store, and what their reads returned. Each database is
 * new: whatever the cache has of the one before is wrong. Confined to one thread.
 */
public final class ShopRun {
    private static final int CUSTOMERS = 4;
    private static final int FACTORIES = 2;

    private final List<Customer> all = new ArrayList<>();
    private long hits;
    private long puts;

    /**
     * Works in a new database.
     *
     * @param database its name, in memory
     * @param uri of a file with the settings of the cache
     * @param operations of all customers together
     */
    public void work(String database, String uri, int operations) throws InterruptedException {
        final List<Customer> customers = new ArrayList<>();
        try (ShopSessions sessions = ShopSessions.open(database, uri, FACTORIES)) {
            for (int i = 0; i < CUSTOMERS; i++) {
                customers.add(new Customer(i, sessions));
            }
            customers.forEach(Customer::findNothing);
            inThreads(customers, operations / CUSTOMERS);
            hits += sum(sessions, Statistics::getSecondLevelCacheHitCount)
                    + sum(sessions, Statistics::getNaturalIdCacheHitCount)
                    + sum(sessions, Statistics::getQueryCacheHitCount);
            puts += sum(sessions, Statistics::getSecondLevelCachePutCount)
                    + sum(sessions, Statistics::getNaturalIdCachePutCount)
                    + sum(sessions, Statistics::getQueryCachePutCount);
        }
        all.addAll(customers);
    }

    private static void inThreads(List<Customer> customers, int each) throws InterruptedException {
        final ExecutorService threads = Executors.newFixedThreadPool(CUSTOMERS);
        final List<Future<?>> runs = new ArrayList<>();
        customers.forEach(customer -> runs.add(threads.submit(() -> customer.work(each))));
        try {
            for (Future<?> run : runs) {
                run.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("a customer has failed", e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private static long sum(ShopSessions sessions, ToLongFunction<Statistics> count) {
        return sessions.factories().stream()
                .mapToLong(factory -> count.applyAsLong(factory.getStatistics()))
                .sum();
    }

    private int sum(ToIntFunction<Customer> count) {
        return all.stream().mapToInt(count).sum();
    }

    /** Reads that the cache answered. */
    public long hits() {
        return hits;
    }

    public int operations() {
        return sum(Customer::operations);
    }

    /** Operations that threw, or read what was never there. */
    public int failures() {
        return sum(Customer::failures);
    }

    /** Reads of what had been changed before. */
    public int stale() {
        return sum(Customer::stale);
    }

    /** How much of it the cache answered. */
    public String cacheLine() {
        return "hibernate: cache hits=" + hits + " puts=" + puts;
    }

    @Override
    public String toString() {
        return "hibernate: operations=" + operations() + " failures=" + failures() + " stale=" + stale();
    }
}
