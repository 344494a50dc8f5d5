package org.rowankv.samples.quickstart;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.cache.Cache;
import org.rowankv.samples.run.ProgressLine;

/**
 * The steps of the quickstart, against any store: all class files are put, read back, and partly changed; a new process
 * checks every object again; then the replicas are compared. Confined to one thread.
 */
public final class QuickstartRun {
    private static final int UPDATE_EVERY = 5;
    private static final int REMOVE_EVERY = 7;
    private static final long LEAST_CAPACITY = 96L << 20;

    private final List<Path> files;
    private final long bytes;
    private final Path java;
    private final PrintStream out;
    private final boolean terminal = System.console() != null;
    private long mismatches;

    /**
     * @param limit maximum number of objects
     * @param java the executable that runs the new process
     */
    public QuickstartRun(long limit, Path java, PrintStream out) throws IOException {
        this.files = ClassFiles.list(limit);
        this.bytes = ClassFiles.bytes(files);
        this.java = java;
        this.out = out;
    }

    /** Bytes needed by a server that replicates everything: updates beside the values they replace, and cleaning. */
    public long capacityBytes() {
        return Math.max(LEAST_CAPACITY, bytes * 5 / 2) >> 20 << 20;
    }

    /** Runs all steps and prints the results; returns whether all are correct. */
    public boolean run(QuickstartStore store, Path manifestFile) throws IOException, InterruptedException {
        out.printf(Locale.ROOT, "%,d class files, %,d bytes; %s%n", files.size(), bytes, store.description());
        final ObjectDigests manifest = new ObjectDigests();
        final StepTimes times = new StepTimes();
        final List<String> table;
        final long verified;
        try (ClassCache caches = new ClassCache(store.uri())) {
            final Cache<String, byte[]> cache = caches.create();
            put(store, cache, manifest, times);
            verified = readBack(cache, manifest, times);
            change(cache, manifest);
            table = store.table(caches.manager());
        }
        manifest.write(manifestFile);
        print(table, times);
        out.println("closed; " + store.reopen());
        final ReopenedStore.Result reopened = reopen(store, manifestFile);
        mismatches += reopened.mismatches();
        out.println("closed; comparing the files of the servers, indexes excluded");
        final List<String> differences = store.differences();
        differences.forEach(line -> out.println("  " + line));
        final boolean agree = differences.isEmpty();
        if (!store.command().isEmpty()) {
            out.println("the store is kept; its objects: " + store.command());
        }
        out.println("quickstart: objects=" + files.size() + " verified=" + verified + " reopened=" + reopened.checked()
                + " mismatches=" + mismatches + " replicas_agree=" + agree);
        return mismatches == 0 && agree && verified == files.size() && reopened.checked() == files.size();
    }

    private void print(List<String> table, StepTimes times) {
        out.println();
        out.printf(
                Locale.ROOT,
                "  objects %,d   bytes %,d   put/s %,d   get/s %,d   (one caller)%n",
                files.size(),
                bytes,
                times.putsPerSecond(),
                times.getsPerSecond());
        table.forEach(out::println);
        out.println();
    }

    private void put(QuickstartStore store, Cache<String, byte[]> cache, ObjectDigests manifest, StepTimes times)
            throws IOException {
        final ProgressLine progress = new ProgressLine(out, terminal, "put", files.size());
        final int half = files.size() / 2;
        for (int i = 0; i < files.size(); i++) {
            if (i == half) {
                final String happened = store.halfway();
                if (!happened.isEmpty()) {
                    out.println((terminal ? "\n  " : "  ") + happened);
                }
            }
            final Path file = files.get(i);
            final String key = file.toString();
            final byte[] value = Files.readAllBytes(file);
            manifest.stored(key, value);
            times.put(() -> cache.put(key, value));
            progress.advance();
        }
    }

    private long readBack(Cache<String, byte[]> cache, ObjectDigests manifest, StepTimes times) {
        final ProgressLine progress = new ProgressLine(out, terminal, "read back", manifest.size());
        long verified = 0;
        for (String key : manifest.keys()) {
            final byte[] value = times.get(() -> cache.get(key));
            if (manifest.agrees(key, value)) {
                verified++;
            } else {
                mismatches++;
                out.println("  " + key + " was read back wrong");
            }
            progress.advance();
        }
        return verified;
    }

    /** Replaces every fifth object by its bytes in reverse order, removes every seventh. */
    private void change(Cache<String, byte[]> cache, ObjectDigests manifest) throws IOException {
        final ProgressLine progress = new ProgressLine(out, terminal, "change", files.size());
        for (int i = 0; i < files.size(); i++) {
            final String key = files.get(i).toString();
            if (i % REMOVE_EVERY == 0) {
                if (!cache.remove(key) || cache.containsKey(key)) {
                    mismatches++;
                    out.println("  " + key + " could not be removed");
                }
                manifest.removed(key);
            } else if (i % UPDATE_EVERY == 0) {
                final byte[] value = reversed(Files.readAllBytes(files.get(i)));
                cache.put(key, value);
                manifest.stored(key, value);
            }
            progress.advance();
        }
    }

    private static byte[] reversed(byte[] bytes) {
        final byte[] result = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            result[i] = bytes[bytes.length - 1 - i];
        }
        return result;
    }

    private ReopenedStore.Result reopen(QuickstartStore store, Path manifestFile)
            throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        java.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Quickstart.class.getName(),
                        "--uri",
                        store.uri().toString(),
                        "--reopen",
                        manifestFile.toString())
                .redirectErrorStream(true)
                .start();
        ReopenedStore.Result result = new ReopenedStore.Result(0, 0);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (ReopenedStore.Result.isLine(line)) {
                    result = ReopenedStore.Result.ofLine(line);
                } else {
                    out.println(line);
                }
            }
        }
        final int exitCode = process.waitFor();
        if (exitCode != 0) {
            mismatches++;
            out.println("the new process ended with exit code " + exitCode);
        }
        return result;
    }
}
