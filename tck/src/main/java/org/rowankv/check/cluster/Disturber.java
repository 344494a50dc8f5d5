package org.rowankv.check.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.node.TemporaryCluster;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.cluster.PlannedSwap;
import org.rowankv.server.membership.ConfigurationStore;
import org.rowankv.server.membership.ConfigurationStoreException;

/**
 * Makes it hard for the clients of a cluster: one thread kills connections, another one swaps the primaries of about half of
 * the shards, again and again, each time after all servers serve again.
 */
final class Disturber implements AutoCloseable {
    private static final long LONGEST_PAUSE_BETWEEN_KILLS_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long LONGEST_PAUSE_BETWEEN_SWAPS_NS = TimeUnit.SECONDS.toNanos(3);

    private final TemporaryCluster cluster;
    private final List<KillingProxy> proxies;
    private final int shards;
    private final List<Thread> threads = new ArrayList<>();
    private final LongAdder swaps = new LongAdder();
    private final List<String> failures = new ArrayList<>();
    private volatile boolean over;

    Disturber(TemporaryCluster cluster, List<KillingProxy> proxies, int shards, RandomSource random) {
        this.cluster = cluster;
        this.proxies = proxies;
        this.shards = shards;
        final RandomSource ofKills = random.fork("kills");
        final RandomSource ofSwaps = random.fork("swaps");
        threads.add(new Thread(() -> kill(ofKills), "verify-kills"));
        threads.add(new Thread(() -> swap(ofSwaps), "verify-swaps"));
    }

    void start() {
        threads.forEach(thread -> {
            thread.setDaemon(true);
            thread.start();
        });
    }

    /** Times that primaries were swapped, and all servers came to serve again. */
    long swaps() {
        return swaps.sum();
    }

    /** What went wrong with the cluster itself. */
    synchronized List<String> failures() {
        return List.copyOf(failures);
    }

    private synchronized void failed(String what) {
        failures.add(what);
    }

    private void pause(RandomSource random, long longestNs) {
        final long untilNs = System.nanoTime() + longestNs / 3 + random.nextInt((int) (longestNs / 1000)) * 667L;
        for (long leftNs = untilNs - System.nanoTime(); !over && leftNs > 0; leftNs = untilNs - System.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private void kill(RandomSource random) {
        while (!over) {
            pause(random, LONGEST_PAUSE_BETWEEN_KILLS_NS);
            proxies.get(random.nextInt(proxies.size())).killOne(random);
        }
    }

    private void swap(RandomSource random) {
        try (ConfigurationStore store = cluster.cluster().connect()) {
            final PlannedSwap swap =
                    new PlannedSwap(store, "verify-" + Long.toHexString(SecureSeed.next()), SecureSeed.source());
            while (!over) {
                pause(random, LONGEST_PAUSE_BETWEEN_SWAPS_NS);
                if (!over) {
                    swapAboutHalf(swap, random);
                }
            }
        } catch (IOException | RuntimeException e) {
            failed("swapping primaries: " + e);
        }
    }

    private void swapAboutHalf(PlannedSwap swap, RandomSource random) throws IOException {
        long term = 0;
        final int first = random.nextInt(shards);
        for (int i = 0; i < shards; i++) {
            if (i == 0 || random.nextInt(2) == 0) {
                try {
                    term = swap.swap((first + i) % shards, -1).term();
                } catch (ConfigurationStoreException e) {
                    break; // away for a moment: what was swapped counts
                }
            }
        }
        if (term > 0) {
            awaitTerm(term);
            swaps.increment();
        }
    }

    /** All serve in a later term: each swap makes everybody start together. */
    private void awaitTerm(long term) throws IOException {
        boolean later = false;
        while (!later) {
            cluster.awaitServing();
            later = true;
            for (int server = 0; server < cluster.cluster().shape().servers(); server++) {
                later &= Long.parseLong(cluster.cluster().statusOf(server).getOrDefault("term", "0")) > term;
            }
            if (!later) {
                LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(50));
            }
        }
    }

    /** Nothing is disturbed any more; the cluster serves. */
    @Override
    public void close() {
        over = true;
        threads.forEach(LockSupport::unpark);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new UncheckedIOException(new IOException("interrupted", e));
            }
        }
    }
}
