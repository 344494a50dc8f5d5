package org.rowankv.bench.net;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.rowankv.bench.jcache.KeptValuesCurve;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.driver.BulkResult;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code rowan bench front-end}: what batches of writes gain over a network, and kept values in one JVM: the two curves of
 * AsymNVM's front-end.
 */
@Command(
        name = "front-end",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "One caller puts objects over client ports on the loopback, 1, 4, 16, 64 and 256 per call: servers in a process of"
                    + " their own, two replicas, each object with an acknowledgement of its own; medians of the rounds.",
            "Expects that 64 per call write at least 3 times as many objects per second as one, and that up to 64 a larger"
                    + " batch is never slower.",
            "Then counts requests of a cache with near=validated that keeps 0, 1, 10 and 50 of a hundred objects: 95 gets of"
                    + " a hundred operations, Zipf 0.99. Expects as many hits as LRU has and no more than the best set of objects, and"
                    + " at most a third of the requests with 10. Exits with 1 if a bar is missed."
        })
public final class FrontEndCommand implements Callable<Integer> {
    private static final List<Integer> BATCHES = List.of(1, 4, 16, 64, 256);
    private static final int BATCH_BARS = 4;
    private static final int COMPARED = 64;
    private static final double LEAST = 3;
    /** A larger batch may be that much slower, by chance. */
    private static final double SLACK = 0.97;

    private static final long SPIN_NS = 50_000;

    @Option(names = "--seconds", description = "seconds per batch size and round (default: ${DEFAULT-VALUE})")
    private double seconds = 2;

    @Option(names = "--rounds", description = "rounds, after one to warm up (default: ${DEFAULT-VALUE})")
    private int rounds = 3;

    @Option(names = "--keys", description = "objects in the cache (default: ${DEFAULT-VALUE})")
    private int keys = 65_536;

    private final PrintStream out = System.out;
    private int next;

    @Override
    public Integer call() throws IOException {
        if (rounds < 1 || seconds <= 0 || keys < Collections.max(BATCHES)) {
            System.err.println("bench: --rounds and --seconds must be above 0, --keys at least 256");
            return 2;
        }
        final List<List<Double>> rates = new ArrayList<>();
        BATCHES.forEach(batch -> rates.add(new ArrayList<>()));
        final byte[][] names = KeySpace.keys(keys);
        try (NetTarget target = NetTarget.start("store", 2, SPIN_NS, keys)) {
            for (int round = 0; round <= rounds; round++) {
                for (int i = 0; i < BATCHES.size(); i++) {
                    final double rate = measure(target, names, BATCHES.get(i));
                    if (round > 0) {
                        rates.get(i).add(rate);
                    }
                }
            }
        }
        final int slow = judge(rates.stream().map(FrontEndCommand::median).toList());
        final KeptValuesCurve curve = new KeptValuesCurve(out, keys);
        curve.run();
        final int missed = slow + curve.missed();
        out.println(
                "front-end: batches=" + BATCHES.size() + " bars=" + (BATCH_BARS + curve.bars()) + " missed=" + missed);
        return missed == 0 ? 0 : 1;
    }

    private double measure(NetTarget target, byte[][] names, int batch) {
        final List<byte[]> values = Collections.nCopies(batch, new byte[KeySpace.VALUE_LENGTH]);
        final long startNs = System.nanoTime();
        final long endNs = startNs + (long) (seconds * 1e9);
        long done = 0;
        do {
            final List<byte[]> some = new ArrayList<>(batch);
            for (int i = 0; i < batch; i++) {
                next = (next + 1) % names.length;
                some.add(names[next]);
            }
            final List<BulkResult> results = target.client().putAll(target.cacheId(), some, values);
            if (results.stream().anyMatch(result -> result.failure() != null)) {
                throw new IllegalStateException("a put failed");
            }
            done += batch;
        } while (System.nanoTime() - endNs < 0);
        return done / ((System.nanoTime() - startNs) / 1e9);
    }

    private static double median(List<Double> rates) {
        return rates.stream().sorted().toList().get(rates.size() / 2);
    }

    /** The number of missed bars. */
    private int judge(List<Double> rates) {
        int missed = 0;
        for (int i = 0; i < rates.size(); i++) {
            final int batch = BATCHES.get(i);
            final boolean falls = i > 0 && batch <= COMPARED && rates.get(i) < SLACK * rates.get(i - 1);
            final double gain = rates.get(i) / rates.get(0);
            final boolean isLow = batch == COMPARED && gain < LEAST;
            missed += (falls ? 1 : 0) + (isLow ? 1 : 0);
            out.printf(
                    Locale.ROOT,
                    "  %3d per call  %9.1f k objects/s  %6.2f x%s%s%n",
                    batch,
                    rates.get(i) / 1e3,
                    gain,
                    falls ? "  MISSED: slower than smaller batches" : "",
                    isLow ? "  MISSED: at least 3" : "");
        }
        return missed;
    }
}
