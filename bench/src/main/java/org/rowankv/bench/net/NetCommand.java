package org.rowankv.bench.net;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench net}: clients over TCP, compared with the same connections to an echo server. */
@Command(
        name = "net",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures gets and puts over client ports on the loopback, compared with the same client and the same ports with"
                    + " an echo server, which is the ceiling: servers in a process of their own (two servers with two replicas,"
                    + " connected by shared memory), uniform keys, values of 100 bytes; each cell on one and then on the other,"
                    + " the median of the rounds. From Java 21 on, also many callers on virtual threads.",
            "Each line of the last table shows the target and whether it was met; the exit code is 0 either way."
        })
public final class NetCommand implements Callable<Integer> {
    /** The product, called by virtual threads. */
    private static final String VIRTUAL = "virtual";

    private static final int MANY = 16;

    /** An operation mix: puts per hundred operations. */
    private record Mix(String name, int putsPer100, double leastAt16) {}

    private static final List<Mix> MIXES =
            List.of(new Mix("get", 0, 0.75), new Mix("put", 100, 0.65), new Mix("mixed", 50, 0.65));

    @Option(names = "--seconds", description = "seconds per measurement of a cell (default: ${DEFAULT-VALUE})")
    private double seconds = 2;

    @Option(names = "--rounds", description = "rounds (default: ${DEFAULT-VALUE})")
    private int rounds = 3;

    @Option(names = "--threads", split = ",", description = "numbers of callers (default: 1,4,16)")
    private List<Integer> threads = List.of(1, 4, 16);

    @Option(
            names = "--virtual",
            description =
                    "number of callers on virtual threads, where the JVM has them; 0: none (default: ${DEFAULT-VALUE})")
    private int virtualCallers = 1_000;

    @Option(names = "--servers", description = "servers, and replicas of everything (default: ${DEFAULT-VALUE})")
    private int servers = 2;

    @Option(names = "--keys", description = "objects in the cache (default: ${DEFAULT-VALUE})")
    private int keys = 65_536;

    @Option(
            names = "--spin-us",
            description = "how long both ends poll before they block; 0: not at all (default: ${DEFAULT-VALUE})")
    private long spinUs = 50;

    private final PrintStream out = System.out;
    private final Map<String, List<NetCell>> cells = new LinkedHashMap<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (rounds < 1
                || seconds <= 0
                || keys < 1
                || servers < 1
                || spinUs < 0
                || virtualCallers < 0
                || threads.stream().anyMatch(t -> t < 1)) {
            System.err.println(
                    "bench: --rounds, --seconds, --keys, --servers and --threads must be above 0, --spin-us and"
                            + " --virtual not below 0");
            return 2;
        }
        out.printf(
                Locale.ROOT,
                "bench net: %d servers, %d keys, values of %d bytes, both ends spin %d us, %d processors%n",
                servers,
                keys,
                KeySpace.VALUE_LENGTH,
                spinUs,
                Runtime.getRuntime().availableProcessors());
        if (virtualCallers > 0 && !CallerThreads.haveVirtual()) {
            out.println("  without callers on virtual threads: this Java has none; use 21 or later");
        }
        final byte[][] names = KeySpace.keys(keys);
        try (NetTarget ceiling = NetTarget.start("echo", 1, spinUs * 1_000, keys);
                NetTarget product = NetTarget.start("store", servers, spinUs * 1_000, keys)) {
            for (Mix mix : MIXES) {
                NetCell.measure(ceiling, 4, false, mix.putsPer100(), names, seconds);
                NetCell.measure(product, 4, false, mix.putsPer100(), names, seconds);
            }
            for (int round = 0; round < rounds; round++) {
                for (Mix mix : MIXES) {
                    for (int count : threads) {
                        measure("ceiling", ceiling, mix, count, false, names);
                        measure("product", product, mix, count, false, names);
                    }
                    if (hasVirtual()) {
                        measure(VIRTUAL, product, mix, virtualCallers, true, names);
                    }
                }
            }
        }
        check();
        return 0;
    }

    private void measure(String what, NetTarget target, Mix mix, int count, boolean isVirtual, byte[][] names)
            throws InterruptedException {
        final NetCell cell = NetCell.measure(target, count, isVirtual, mix.putsPer100(), names, seconds);
        cells.computeIfAbsent(what + mix.name() + count, name -> new ArrayList<>())
                .add(cell);
        print(what, mix, count, cell);
    }

    private boolean hasVirtual() {
        return virtualCallers > 0 && CallerThreads.haveVirtual();
    }

    private void print(String what, Mix mix, int count, NetCell cell) {
        out.printf(
                Locale.ROOT,
                "  %-8s %-6s %3d callers %8.1f k/s  p50 %7.1f  p99 %7.1f  p99.9 %8.1f us   cpu: client %5.1f  servers %5.1f"
                        + " us/op%n",
                what,
                mix.name(),
                count,
                cell.opsPerSecond() / 1e3,
                cell.p50Us(),
                cell.p99Us(),
                cell.p999Us(),
                cell.clientCpuUs(),
                cell.serverCpuUs());
        out.flush();
    }

    private NetCell median(String what, Mix mix, int count) {
        return NetCell.median(cells.getOrDefault(what + mix.name() + count, List.of()));
    }

    private void check() {
        out.println();
        out.println("medians");
        final TargetTable table = new TargetTable(out);
        for (Mix mix : MIXES) {
            for (int count : threads) {
                print("ceiling", mix, count, median("ceiling", mix, count));
                print("product", mix, count, median("product", mix, count));
            }
            if (hasVirtual()) {
                print(VIRTUAL, mix, virtualCallers, median(VIRTUAL, mix, virtualCallers));
            }
        }
        out.println();
        for (Mix mix : MIXES) {
            for (int count : threads) {
                final NetCell ceiling = median("ceiling", mix, count);
                final NetCell product = median("product", mix, count);
                final String name = mix.name() + ", " + count + " callers: of the ceiling's ";
                final double share = product.opsPerSecond() / ceiling.opsPerSecond();
                if (count == MANY) {
                    table.atLeast(name + "throughput", share, mix.leastAt16(), "x");
                } else {
                    table.shown(name + "throughput", share, "x");
                }
                final double p50 = product.p50Us() / ceiling.p50Us();
                if (count == 1 && mix.putsPer100() % 100 == 0) {
                    table.atMost(name + "median latency", p50, mix.putsPer100() == 0 ? 1.5 : 2, "x");
                }
            }
            if (hasVirtual() && threads.contains(MANY)) {
                table.atLeast(
                        mix.name() + ", " + virtualCallers + " virtual callers: against " + MANY + " threads",
                        median(VIRTUAL, mix, virtualCallers).opsPerSecond()
                                / median("product", mix, MANY).opsPerSecond(),
                        2,
                        "x");
            }
        }
        out.println("bench net: " + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
    }
}
