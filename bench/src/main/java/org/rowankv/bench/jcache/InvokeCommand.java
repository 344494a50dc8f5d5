package org.rowankv.bench.jcache;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench invoke}: many threads increment one number, compared with one thread alone. */
@Command(
        name = "invoke",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Lets many threads increment one number by an entry processor, between two runs of one thread alone: the share"
                    + " of its rate that is left, whether an increment was lost, and the longest wait of any thread.",
            "Each line of the last table shows the target and whether it was met; the exit code is 1 if an increment was"
                    + " lost."
        })
public final class InvokeCommand implements Callable<Integer> {
    private static final String KEY = "user0000000000000000";
    private static final int WARM_UP_SECONDS = 3;
    private static final double LEAST_SHARE = 0.7;
    private static final double LONGEST_WAIT_MS = 1_000;

    @Option(names = "--threads", description = "threads that invoke at once (default: ${DEFAULT-VALUE})")
    private int threads = 16;

    @Option(names = "--seconds", description = "seconds of the run with all threads (default: ${DEFAULT-VALUE})")
    private int seconds = 30;

    private final PrintStream out = System.out;
    private long invocations;

    /** Counts of one thread. */
    private record Seen(long count, long longestNs) {}

    /** Combined counts of one run's threads. */
    private record Run(double perSecond, long longestNs, long fewest, long most) {}

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        if (threads < 1 || seconds < 1) {
            System.err.println("bench: --threads and --seconds must be at least 1");
            return 2;
        }
        out.println("bench invoke: " + threads + " threads on one key for " + seconds + " s, "
                + Runtime.getRuntime().availableProcessors() + " processors, Java " + Runtime.version());
        final CacheManager manager = CacheOpening.manager();
        try {
            final Cache<String, Long> cache = CacheOpening.cache(manager, "invoke", Long.class);
            final int alone = Math.max(1, seconds / 6);
            run(cache, 1, WARM_UP_SECONDS, false);
            final Run before = run(cache, 1, alone, true);
            final Run together = run(cache, threads, seconds, true);
            final Run after = run(cache, 1, alone, true);
            return check(before, together, after, invocations - cache.get(KEY));
        } finally {
            manager.getCachingProvider().close();
        }
    }

    private int check(Run before, Run together, Run after, long lost) {
        final TargetTable table = new TargetTable(out);
        final double alone = (before.perSecond() + after.perSecond()) / 2;
        out.println();
        table.atLeast(threads + " threads against one", together.perSecond() / alone, LEAST_SHARE, "x");
        table.atMost("longest wait of any thread", together.longestNs() / 1e6, LONGEST_WAIT_MS, "ms");
        table.shown("busiest thread against the idlest", (double) together.most() / together.fewest(), "x");
        table.atMost("lost increments", lost, 0, "");
        out.println("bench invoke: invocations=" + invocations + " lost=" + lost + ", "
                + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
        return lost == 0 ? 0 : 1;
    }

    private Run run(Cache<String, Long> cache, int count, int runSeconds, boolean shown)
            throws InterruptedException, ExecutionException {
        final ExecutorService pool = Executors.newFixedThreadPool(count);
        try {
            final CyclicBarrier begin = new CyclicBarrier(count);
            final List<Future<Seen>> running = new ArrayList<>();
            final long startNs = System.nanoTime();
            for (int i = 0; i < count; i++) {
                running.add(pool.submit(() -> increment(cache, begin, startNs + runSeconds * 1_000_000_000L)));
            }
            long sum = 0;
            long longestNs = 0;
            long fewest = Long.MAX_VALUE;
            long most = 0;
            for (Future<Seen> one : running) {
                final Seen seen = one.get();
                sum += seen.count();
                longestNs = Math.max(longestNs, seen.longestNs());
                fewest = Math.min(fewest, seen.count());
                most = Math.max(most, seen.count());
            }
            final double ranSeconds = (System.nanoTime() - startNs) / 1e9;
            invocations += sum;
            final Run run = new Run(sum / ranSeconds, longestNs, fewest, most);
            if (shown) {
                out.printf(
                        Locale.ROOT,
                        "  %2d thread%s %9.0f /s   longest wait %9.3f ms   per thread %d to %d%n",
                        count,
                        count > 1 ? "s" : " ",
                        run.perSecond(),
                        longestNs / 1e6,
                        fewest,
                        most);
                out.flush();
            }
            return run;
        } finally {
            pool.shutdown();
        }
    }

    private Seen increment(Cache<String, Long> cache, CyclicBarrier begin, long endNs) throws Exception {
        final CacheOpening.Increment increment = new CacheOpening.Increment();
        long count = 0;
        long longestNs = 0;
        begin.await();
        long fromNs = System.nanoTime();
        while (fromNs - endNs < 0) {
            cache.invoke(KEY, increment);
            count++;
            final long nowNs = System.nanoTime();
            longestNs = Math.max(longestNs, nowNs - fromNs);
            fromNs = nowNs;
        }
        return new Seen(count, longestNs);
    }
}
