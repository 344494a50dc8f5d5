package org.rowankv.check.verify;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/**
 * One run of {@code verify}: callers load a few keys over a lossy network while links are fenced and appends are
 * stalled. Again and again they pause, the checker reads every key, and the window's history is checked.
 *
 * <p>The checker is the thread that calls {@link #run}. A run that finds something stops at the end of that window.
 */
public final class VerifyRun {
    /** Events of every run of some length; otherwise its faults did not work. */
    public static final List<String> EXPECTED_DISTURBANCES = List.of(
            "disturbance.links fenced",
            "disturbance.appends stalled",
            "disturbance.replies dropped",
            "disturbance.answers replayed",
            "disturbance.kept values current",
            "disturbance.kept values not current",
            "disturbance.outcomes unknown");

    private static final int STUCK_AFTER_SECONDS = 60;
    private static final int MOST_ANOMALIES = 5;

    private final StoreUnderTest store;
    private final VerifySettings settings;
    private final Clock clock;
    private final PrintStream out;
    private final Tally tally = new Tally();
    private final RandomSource random;
    private final HistoryRecorder history;
    private final KeyHistoryChecker checker = new KeyHistoryChecker();
    private final Phaser rounds = new Phaser(1);
    private final List<String> anomalies = Collections.synchronizedList(new ArrayList<>());
    private final byte[][] keys;
    private final List<Caller> callers = new ArrayList<>();
    private long operations;
    private long windows;
    private volatile boolean over;

    public VerifyRun(StoreUnderTest store, VerifySettings settings, Clock clock, PrintStream out) {
        this.store = store;
        this.settings = settings;
        this.clock = clock;
        this.out = out;
        this.random = new SplittableRandomSource(settings.seed());
        this.history = new HistoryRecorder(settings.callers(), settings.keys());
        this.keys = Caller.keys(settings.keys());
    }

    public VerifyReport run() {
        final Session direct = store.session();
        final DroppingSession network =
                new DroppingSession(direct, random.fork("network"), tally, settings.faultsPerMille());
        final RowanClient client = new RowanClient(
                new ValidatingSession(network, tally),
                clock,
                random.fork("client"),
                TimeUnit.MILLISECONDS.toNanos(settings.deadlineMs()));
        final RowanClient reading = new RowanClient(direct, clock, random.fork("judge"));
        final int cacheId = reading.catalogue().create("verify", new byte[0]).id();
        if (Chaos.ENABLED && settings.stallOneIn() > 0) {
            Chaos.install(new Stalls(random.fork("stalls"), tally, settings.stallOneIn()));
        }
        final LinkCutter cutter = new LinkCutter(store, random.fork("links"), tally);
        try (cutter) {
            startCallers(client, cacheId);
            cutter.start();
            checkWindows(reading, cacheId, network);
            callers.forEach(caller -> anomalies.addAll(caller.ballast().check(reading)));
        } finally {
            over = true;
            rounds.forceTermination();
            if (Chaos.ENABLED) {
                Chaos.reset();
            }
        }
        client.close();
        reading.close();
        network.awaitQuiet();
        network.close();
        final Map<String, Long> counters = store.counters();
        if (anomalies.isEmpty()) {
            for (String difference : store.closeAndCompareReplicas()) {
                anomalies.add("replicas disagree: " + difference);
            }
        }
        return report(counters);
    }

    private void startCallers(RowanClient client, int cacheId) {
        for (int i = 0; i < settings.callers(); i++) {
            final Caller caller = new Caller(
                    i, client, cacheId, settings.keys(), history.log(i), clock, random.fork("caller " + i), tally);
            callers.add(caller);
            rounds.register();
            final Thread thread = new Thread(() -> ask(caller), "verify-caller-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void ask(Caller caller) {
        while (!over && rounds.arriveAndAwaitAdvance() >= 0) {
            try {
                for (int i = 0; i < settings.operationsPerWindow(); i++) {
                    caller.askOnce();
                }
            } catch (RuntimeException | Error failure) {
                anomalies.add("a caller met " + describe(failure));
            }
            rounds.arriveAndAwaitAdvance();
        }
    }

    private void checkWindows(RowanClient reading, int cacheId, DroppingSession network) {
        final long startNs = clock.nanoTime();
        final long lengthNs = TimeUnit.SECONDS.toNanos(settings.seconds());
        long nextLineNs = startNs;
        boolean goesOn = true;
        while (goesOn) {
            nextRound("start");
            nextRound("rest");
            network.awaitQuiet();
            for (int key = 0; key < keys.length; key++) {
                check(reading, cacheId, key);
            }
            operations += history.size();
            history.clear();
            windows++;
            countFailures();
            final long nowNs = clock.nanoTime();
            goesOn = anomalies.isEmpty() && nowNs - startNs < lengthNs;
            if (nowNs >= nextLineNs) {
                progress((nowNs - startNs) / 1e9);
                nextLineNs = nowNs + TimeUnit.SECONDS.toNanos(settings.seconds() > 30 ? 5 : 1);
            }
        }
    }

    private void nextRound(String what) {
        final int round = rounds.arrive();
        for (int seconds = 0; seconds < STUCK_AFTER_SECONDS; seconds++) {
            try {
                rounds.awaitAdvanceInterruptibly(round, 1, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                // A store that reports itself broken is not waited for any longer.
                final List<String> failures = store.failures();
                if (!failures.isEmpty()) {
                    throw new NoProgressException("the callers do not " + what + "; the store reports " + failures);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
        throw new NoProgressException(
                "the callers did not " + what + " within " + STUCK_AFTER_SECONDS + " s\n" + stacks());
    }

    private static String stacks() {
        final StringBuilder text = new StringBuilder();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            text.append(thread.getName()).append(" (").append(thread.getState()).append(")\n");
            for (StackTraceElement frame : stack) {
                text.append("    at ").append(frame).append('\n');
            }
        });
        return text.toString();
    }

    private void check(RowanClient reading, int cacheId, int key) {
        final Request read = new Request().get(cacheId, keys[key], 0, keys[key].length);
        final long invokedNs = clock.nanoTime();
        reading.execute(read);
        final Event lastRead = Caller.eventOf(
                -1,
                KeyAction.GET,
                Event.ABSENT,
                0,
                Caller.outcome(read.status()),
                read,
                true,
                invokedNs,
                clock.nanoTime());
        for (Anomaly anomaly : history.check(key, lastRead, checker)) {
            anomalies.add(anomaly.toString());
        }
    }

    private void countFailures() {
        tally.under("failure.").forEach((what, count) -> anomalies.add(what + " (" + count + " times)"));
        store.failures().forEach(failure -> anomalies.add("inside the store: " + failure));
        tally.under("late.failed").forEach((what, count) -> anomalies.add("a late copy met" + what));
    }

    private static String describe(Throwable failure) {
        final StringBuilder text = new StringBuilder(failure.toString());
        for (StackTraceElement frame : failure.getStackTrace()) {
            text.append("\n      at ").append(frame);
        }
        return text.toString();
    }

    private void progress(double seconds) {
        out.printf(
                Locale.ROOT,
                "verify: %5.1f s  %,d operations in %,d windows, %,d links fenced, %,d stalls, %,d faults on the way,"
                        + " %,d anomalies%n",
                seconds,
                operations,
                windows,
                tally.of("disturbance.links fenced"),
                sum("stall."),
                sum("fault."),
                anomalies.size());
    }

    private long sum(String prefix) {
        return tally.under(prefix).values().stream().mapToLong(Long::longValue).sum();
    }

    private VerifyReport report(Map<String, Long> counters) {
        final Map<String, Long> counts = new TreeMap<>(tally.under(""));
        counts.put("disturbance.appends stalled", sum("stall."));
        counts.put("disturbance.replies dropped", tally.of("fault." + DeliveryFault.DROP_REPLY.label()));
        counters.forEach((name, count) -> counts.put("store." + name, count));
        final List<String> first = new ArrayList<>(anomalies);
        if (first.size() > MOST_ANOMALIES) {
            first.subList(MOST_ANOMALIES, first.size()).clear();
            first.add("and " + (anomalies.size() - MOST_ANOMALIES) + " more");
        }
        return new VerifyReport(operations, windows, first, counts);
    }
}
