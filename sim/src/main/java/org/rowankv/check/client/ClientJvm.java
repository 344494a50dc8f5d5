package org.rowankv.check.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * Main class of a client JVM of {@code verify --cluster}: several callers of two caches. It executes the commands on
 * its standard input, and prints replies, one per line:
 *
 * <pre>
 *   CLOCK                CLOCK nanoseconds of the monotonic clock
 *   WINDOW generation …  starts the callers, on the key of that generation in each slot
 *   REST                 stops the callers after the operations in progress. REGISTER slot event …, CHAIN slot event …, one for
 *                        each operation; LONG call …; EXCEPTION text …; RECONNECTS count; RESTED
 *   COUNT calls          each caller increments one counter so often by entry processor; COUNTED
 * </pre>
 *
 * <p>In between it prints {@code TALLY operations unknown refused} at intervals. It exits at the end of its input.
 */
public final class ClientJvm {
    public static final String CACHE = "verify";
    private static final String COUNTER_CACHE = "counters";
    private static final String COUNTER = "counter";
    private static final long TALLY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private final Cache<String, Long> counters;
    private final RowanClient client;
    private final List<CacheCaller> callers = new ArrayList<>();
    private final ExecutorService threads;
    private final List<Future<?>> asking = new ArrayList<>();
    private volatile boolean resting = true;

    private ClientJvm(
            CacheManager manager,
            int firstCaller,
            int callerCount,
            Keys keys,
            long seed,
            boolean onlyReads,
            boolean oneRegister) {
        final Cache<String, String> cache = openCache(manager);
        this.counters = openCounters(manager);
        this.client = manager.unwrap(RowanCacheManager.class).unwrap(RowanClient.class);
        final RandomSource random = new SplittableRandomSource(seed);
        final TimerLag lag = TimerLag.start();
        for (int caller = firstCaller; caller < firstCaller + callerCount; caller++) {
            callers.add(new CacheCaller(
                    caller, cache, counters, keys, onlyReads, oneRegister, lag, random.fork("caller " + caller)));
        }
        this.threads = Executors.newFixedThreadPool(callerCount, task -> daemon("caller", task));
    }

    private static Thread daemon(String name, Runnable task) {
        final Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    public static CacheManager manager(String uri) {
        return new RowanCachingProvider().getCacheManager(URI.create(uri), null, new Properties());
    }

    public static Cache<String, String> openCache(CacheManager manager) {
        return manager.createCache(
                CACHE, new MutableConfiguration<String, String>().setTypes(String.class, String.class));
    }

    public static Cache<String, Long> openCounters(CacheManager manager) {
        return manager.createCache(
                COUNTER_CACHE, new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
    }

    /** The value of the counter of {@code COUNT}. */
    public static long counted(CacheManager manager) {
        try (Cache<String, Long> counters = openCounters(manager)) {
            final Long counted = counters.get(COUNTER);
            return counted == null ? 0 : counted;
        }
    }

    /**
     * Arguments: URI, number of the first caller, callers, registers, seed, whether they only read, whether each keeps to
     * one register.
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        QuietLogs.setUp();
        try (CacheManager manager = manager(arguments[0])) {
            new ClientJvm(
                            manager,
                            Integer.parseInt(arguments[1]),
                            Integer.parseInt(arguments[2]),
                            Keys.of(Integer.parseInt(arguments[3])),
                            Long.parseLong(arguments[4]),
                            Boolean.parseBoolean(arguments[5]),
                            Boolean.parseBoolean(arguments[6]))
                    .obey();
        }
    }

    private void obey() throws IOException, InterruptedException {
        daemon("tally", this::tally).start();
        final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final String[] words = line.split(" ");
            switch (words[0]) {
                case "CLOCK" -> out.println("CLOCK " + SystemClock.INSTANCE.nanoTime());
                case "WINDOW" -> window(words);
                case "REST" -> rest();
                case "COUNT" -> count(Integer.parseInt(words[1]));
                default -> throw new IOException("unknown command: " + line);
            }
            out.flush();
        }
        resting = true;
        threads.shutdownNow();
    }

    /** Prints counts while the callers run. */
    private void tally() {
        while (true) {
            LockSupport.parkNanos(this, TALLY_NS);
            if (!resting) {
                long operations = 0;
                long unknown = 0;
                long refused = 0;
                for (CacheCaller caller : callers) {
                    operations += caller.operations();
                    unknown += caller.unknown();
                    refused += caller.refused();
                }
                out.println("TALLY " + operations + " " + unknown + " " + refused);
                out.flush();
            }
        }
    }

    private void window(String[] words) {
        final int[] generations =
                Arrays.stream(words).skip(1).mapToInt(Integer::parseInt).toArray();
        resting = false;
        begin(caller -> caller.askUntil(() -> resting, generations));
    }

    private void rest() throws InterruptedException {
        resting = true;
        awaitAll();
        for (CacheCaller caller : callers) {
            caller.takeNoted().forEach(this::print);
            caller.calls().takeLongCalls().forEach(call -> out.println("LONG " + call.toLine()));
            caller.calls().takeExceptions().forEach(text -> out.println("EXCEPTION " + text.replace('\n', ' ')));
        }
        out.println("RECONNECTS " + client.reconnects());
        out.println("RESTED");
    }

    private void print(CacheCaller.Noted noted) {
        final ValueEvent value = noted.value();
        final ChainEvent chain = noted.chain();
        if (value != null) {
            out.println("REGISTER " + noted.slot() + " " + value.toLine());
        }
        if (chain != null) {
            out.println("CHAIN " + noted.slot() + " " + chain.toLine());
        }
    }

    private void count(int calls) throws InterruptedException {
        begin(caller -> {
            for (int i = 0; i < calls; i++) {
                counters.invoke(COUNTER, (entry, arguments) -> {
                    entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
                    return null;
                });
            }
        });
        awaitAll();
        out.println("COUNTED");
    }

    private void begin(Consumer<CacheCaller> work) {
        for (CacheCaller caller : callers) {
            asking.add(threads.submit(() -> work.accept(caller)));
        }
    }

    private void awaitAll() throws InterruptedException {
        for (Future<?> each : asking) {
            try {
                each.get();
            } catch (ExecutionException e) {
                out.println("EXCEPTION of a caller: " + e.getCause());
            }
        }
        asking.clear();
    }
}
