package org.rowankv.check.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/**
 * A client JVM of {@code verify --cluster}: several callers of one cache. Does what the lines that it reads say, and answers in
 * lines:
 *
 * <pre>
 *   CLOCK           CLOCK System.nanoTime
 *   WINDOW count    EVENT key event …, one for each operation of each caller;
 *                   EXCEPTION text …; RECONNECTS count; REST
 *   COUNT calls     each caller increments one counter so often by entry processor; COUNTED
 * </pre>
 *
 * <p>Ends when there are no more lines to read.
 */
public final class ClientJvm {
    static final String CACHE = "verify";
    private static final String COUNTER_CACHE = "counters";
    private static final String COUNTER = "counter";

    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private final Cache<String, String> cache;
    private final Cache<String, Long> counters;
    private final RowanClient client;
    private final List<CacheCaller> callers = new ArrayList<>();
    private final ExecutorService threads;

    private ClientJvm(CacheManager manager, int firstCaller, int callerCount, int keys, long seed) {
        this.cache = openCache(manager);
        this.counters = openCounters(manager);
        this.client = manager.unwrap(RowanCacheManager.class).unwrap(RowanClient.class);
        final RandomSource random = new SplittableRandomSource(seed);
        for (int caller = firstCaller; caller < firstCaller + callerCount; caller++) {
            callers.add(new CacheCaller(caller, cache, keys, random.fork("caller " + caller)));
        }
        this.threads = Executors.newFixedThreadPool(callerCount);
    }

    static CacheManager manager(String uri) {
        return new RowanCachingProvider().getCacheManager(URI.create(uri), null, new Properties());
    }

    static Cache<String, String> openCache(CacheManager manager) {
        return manager.createCache(
                CACHE, new MutableConfiguration<String, String>().setTypes(String.class, String.class));
    }

    /** What {@code COUNT} has counted so far. */
    static long counted(CacheManager manager) {
        final Long counted = openCounters(manager).get(COUNTER);
        return counted == null ? 0 : counted;
    }

    private static Cache<String, Long> openCounters(CacheManager manager) {
        return manager.createCache(
                COUNTER_CACHE, new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
    }

    /** Arguments: URI, number of the first caller, callers, keys, seed. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        QuietLogs.setUp();
        try (CacheManager manager = manager(arguments[0])) {
            new ClientJvm(
                            manager,
                            Integer.parseInt(arguments[1]),
                            Integer.parseInt(arguments[2]),
                            Integer.parseInt(arguments[3]),
                            Long.parseLong(arguments[4]))
                    .obey();
        }
    }

    private void obey() throws IOException, InterruptedException {
        final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final String[] words = line.split(" ");
            switch (words[0]) {
                case "CLOCK" -> out.println("CLOCK " + System.nanoTime());
                case "WINDOW" -> window(Integer.parseInt(words[1]));
                case "COUNT" -> count(Integer.parseInt(words[1]));
                default -> throw new IOException("asked for what is unknown: " + line);
            }
            out.flush();
        }
        threads.shutdownNow();
    }

    private void window(int operations) throws InterruptedException {
        inParallel(caller -> {
            for (int i = 0; i < operations; i++) {
                caller.askOnce();
            }
        });
        for (CacheCaller caller : callers) {
            caller.takeNoted()
                    .forEach(noted -> out.println(
                            "EVENT " + noted.key() + " " + noted.event().toLine()));
            caller.takeExceptions().forEach(text -> out.println("EXCEPTION " + text.replace('\n', ' ')));
        }
        out.println("RECONNECTS " + client.reconnects());
        out.println("REST");
    }

    private void count(int calls) throws InterruptedException {
        inParallel(caller -> {
            for (int i = 0; i < calls; i++) {
                counters.invoke(COUNTER, (entry, arguments) -> {
                    entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
                    return null;
                });
            }
        });
        out.println("COUNTED");
    }

    private interface Work {
        void of(CacheCaller caller);
    }

    private void inParallel(Work work) throws InterruptedException {
        final List<Callable<Boolean>> tasks = new ArrayList<>();
        for (CacheCaller caller : callers) {
            tasks.add(() -> {
                work.of(caller);
                return true;
            });
        }
        for (Future<Boolean> done : threads.invokeAll(tasks)) {
            try {
                done.get();
            } catch (ExecutionException e) {
                out.println("EXCEPTION of a caller: " + e.getCause());
            }
        }
    }
}
