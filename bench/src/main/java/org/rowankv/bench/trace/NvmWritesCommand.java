package org.rowankv.bench.trace;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench nvm-writes}: bytes written per operation, beside redo logging and Erda. */
@Command(
        name = "nvm-writes",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Counts the bytes that one server writes to its area per create, update and delete, at the durability seam, and"
                    + " compares them with those of redo logging and of Erda, by the formulas of Erda's Table 1.",
            "Ours are whole lines of 64 bytes with the version, checksums and lengths of the entry, so redo logging is also"
                    + " counted in whole lines: one write to the log, one in place. Exits with 1 if a bar is missed."
        })
public final class NvmWritesCommand implements Callable<Integer> {
    private static final int KEY = 48;
    private static final int[] VALUES = {16, 64, 128, 256, 512, 1024};
    private static final int LINE = 64;
    /** Frame, fixed fields, and the version of the replaced object. */
    private static final int UPDATE_HEADER = 24 + 24 + 8;

    private static final int BAR_FROM = 256;
    private static final double MOST = 0.6;
    private static final int CLEANED_OBJECTS = 20_000;

    @Option(names = "--objects", description = "objects of each size (default: ${DEFAULT-VALUE})")
    private int objects = 1_000;

    private final PrintStream out;
    private final Request request = new Request();
    private int bars;
    private int missed;

    public NvmWritesCommand() {
        this(System.out);
    }

    NvmWritesCommand(PrintStream out) {
        this.out = out;
    }

    /** Bytes per operation. */
    private record Written(double create, double update, double delete) {}

    @Override
    public Integer call() throws IOException {
        out.println("bytes written per operation, keys of " + KEY + " bytes; redo and Erda: formulas; ours: measured");
        out.println("value  operation  ours  redo  redo in lines  Erda  ours/redo  ours/redo in lines");
        for (final int value : VALUES) {
            compare(value, measure(value));
        }
        clean();
        out.println("nvm-writes: sizes=" + VALUES.length + " bars=" + bars + " missed=" + missed);
        return missed == 0 ? 0 : 1;
    }

    private void compare(int value, Written ours) {
        final int pair = KEY + value;
        row(value, "create", ours.create(), KEY + 12 + 2 * pair, lines(KEY + 12 + pair) + lines(pair), KEY + 10 + pair);
        row(value, "update", ours.update(), 4 + 2 * pair, lines(4 + pair) + lines(pair), 9 + pair);
        row(value, "delete", ours.delete(), KEY + 8, lines(KEY + 8), KEY + 9);
        final int entry = UPDATE_HEADER + pair;
        bar("an update of " + value + " bytes is its entry and less than a line", ours.update() < entry + LINE);
        if (value >= BAR_FROM) {
            bar(
                    "an update of " + value + " bytes is at most " + MOST + " of redo logging in lines",
                    ours.update() <= MOST * (lines(4 + pair) + lines(pair)));
        }
    }

    private static int lines(int bytes) {
        return (bytes + LINE - 1) / LINE * LINE;
    }

    private void row(int value, String operation, double ours, int redo, int redoLines, int erda) {
        out.printf(
                Locale.ROOT,
                "%5d  %-9s %5.0f %5d %14d %5d %10.2f %19.2f%n",
                value,
                operation,
                ours,
                redo,
                redoLines,
                erda,
                ours / redo,
                ours / redoLines);
    }

    private void bar(String what, boolean met) {
        bars++;
        if (!met) {
            missed++;
            out.println("  MISSED: " + what);
        }
    }

    private Written measure(int value) throws IOException {
        final Path directory = Files.createTempDirectory("rowan-writes");
        try (TappedStore store = new TappedStore(directory.resolve("store"), with -> {
            with.workers = 1;
            with.capacityBytes = 64L << 20;
        })) {
            final RowanClient client = store.client();
            final int cache = client.catalogue().create("bench", new byte[0]).id();
            final WriteTrace trace = store.trace();
            final long before = trace.allBytes(WriteOwner.WORKER);
            put(store, cache, value);
            final long created = trace.allBytes(WriteOwner.WORKER);
            put(store, cache, value);
            final long updated = trace.allBytes(WriteOwner.WORKER);
            for (int i = 0; i < objects; i++) {
                client.execute(request.delete(cache, key(i), 0, KEY));
                requireOk();
                store.operated();
            }
            final long deleted = trace.allBytes(WriteOwner.WORKER);
            return new Written(
                    (double) (created - before) / objects,
                    (double) (updated - created) / objects,
                    (double) (deleted - updated) / objects);
        } finally {
            MeasuringJvm.delete(directory);
        }
    }

    private void put(TappedStore store, int cache, int value) {
        for (int i = 0; i < objects; i++) {
            put(store, cache, i, value);
        }
    }

    private void put(TappedStore store, int cache, int number, int value) {
        store.client().execute(request.put(cache, key(number), 0, KEY, new byte[value], 0, value));
        requireOk();
        store.operated();
    }

    private void requireOk() {
        if (request.status() != Status.OK) {
            throw new IllegalStateException("answered " + request.status());
        }
    }

    private static byte[] key(int number) {
        final byte[] key = new byte[KEY];
        Arrays.fill(key, (byte) 'k');
        for (int i = 0, rest = number; i < Integer.BYTES; i++, rest >>>= Byte.SIZE) {
            key[i] = (byte) rest;
        }
        return key;
    }

    /** Cleaning writes what is live again, some time later; how much depends on how full the store is. */
    private void clean() throws IOException {
        final Path directory = Files.createTempDirectory("rowan-writes");
        final int value = BAR_FROM;
        final long live = (long) CLEANED_OBJECTS * lines(UPDATE_HEADER + KEY + value);
        try (TappedStore store = new TappedStore(directory.resolve("store"), with -> {
            with.workers = 1;
            with.segmentBytes = 64 << 10;
            with.capacityBytes = live * 10 / 7 & -(64L << 10);
        })) {
            final int cache =
                    store.client().catalogue().create("bench", new byte[0]).id();
            for (int i = 0; i < CLEANED_OBJECTS; i++) {
                put(store, cache, i, value);
            }
            final SplittableRandom random = new SplittableRandom(7);
            final long before = store.trace().allBytes(WriteOwner.CLEAN);
            final int updates = 3 * CLEANED_OBJECTS;
            for (int i = 0; i < updates; i++) {
                put(store, cache, random.nextInt(CLEANED_OBJECTS), value);
            }
            final double cleaned = (double) (store.trace().allBytes(WriteOwner.CLEAN) - before) / updates;
            out.printf(
                    Locale.ROOT,
                    "apart: cleaning adds %.0f bytes per update of %d bytes while 70 %% of the store is live%n",
                    cleaned,
                    value);
        } finally {
            MeasuringJvm.delete(directory);
        }
    }
}
