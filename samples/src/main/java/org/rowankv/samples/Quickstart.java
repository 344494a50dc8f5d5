package org.rowankv.samples;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.inspect.ReplicaReport;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.pm.ClosedStore;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan quickstart}: the main job on real data, from the first put to a second process that finds everything. */
@Command(
        name = "quickstart",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caches every class file of this JDK in three servers inside this JVM, three replicas of each on disk; reads all"
                    + " back, updates a part, removes a part, closes everything, opens the directory in a new process,"
                    + " checks every object again, and compares the three servers' files with each other.",
            "Its last line is \"quickstart: objects=N verified=N reopened=N mismatches=0 replicas_agree=true\"; anything"
                    + " else exits non-zero."
        })
public final class Quickstart implements Callable<Integer> {
    private static final int UPDATE_EVERY = 5;
    private static final int REMOVE_EVERY = 7;
    private static final long LEAST_CAPACITY = 96L << 20;

    @Option(names = "--dir", description = "the store's directory, which stays (default: a temporary one)")
    private @Nullable Path directory;

    @Option(names = "--objects", description = "at most so many objects (default: all)")
    private long limit = Long.MAX_VALUE;

    @Option(names = "--reopen", hidden = true, description = "the second process: checks against this manifest")
    private @Nullable Path manifestToCheck;

    @Option(names = "--capacity", hidden = true)
    private long capacityBytes;

    private final PrintStream out = System.out;
    private final boolean terminal = System.console() != null;
    private long mismatches;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Quickstart()).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (manifestToCheck != null && directory != null) {
            final ReopenedStore.Result result =
                    ReopenedStore.check(directory, capacityBytes, Manifest.read(manifestToCheck), out, terminal);
            out.println(result.line());
            return 0;
        }
        final String whyNot = directory == null ? null : SampleDirectory.whyNot(directory);
        if (whyNot != null) {
            System.err.println("quickstart: " + whyNot);
            return CommandLine.ExitCode.USAGE;
        }
        final Path place =
                directory == null ? Files.createTempDirectory("rowan-quickstart-") : Files.createDirectories(directory);
        final Path store = place.resolve(SampleDirectory.STORE).toAbsolutePath();
        final Path manifestFile = place.resolve("manifest.txt").toAbsolutePath();
        final boolean well = run(store, manifestFile);
        if (directory == null && well) {
            delete(place);
        } else {
            out.flush();
        }
        return well ? 0 : 1;
    }

    private boolean run(Path store, Path manifestFile) throws IOException, InterruptedException {
        final List<Path> files = ClassFiles.list(limit);
        final long bytes = ClassFiles.bytes(files);
        // Room for the updates beside what they replace, for cleaning, and some.
        capacityBytes = Math.max(LEAST_CAPACITY, bytes * 5 / 2) >> 20 << 20;
        out.printf(
                Locale.ROOT,
                "%,d class files, %,d bytes; %d servers with %d MiB each, %d replicas, in %s%n",
                files.size(),
                bytes,
                ClassCache.SERVERS,
                capacityBytes >> 20,
                ClassCache.REPLICAS,
                store);
        final Manifest manifest = new Manifest();
        final StepTimes times = new StepTimes();
        final StoreTable table;
        final long verified;
        try (ClassCache caches = new ClassCache(store, capacityBytes)) {
            final Cache<String, byte[]> cache = caches.create();
            put(cache, files, manifest, times);
            verified = readBack(cache, manifest, times);
            change(cache, files, manifest);
            table = StoreTable.of(caches.manager());
        }
        manifest.write(manifestFile);
        table.print(out, files.size(), bytes, times);
        out.println("closed; opening the same directory in a new process");
        final ReopenedStore.Result reopened = reopen(store, manifestFile);
        mismatches += reopened.mismatches();
        out.println("closed; comparing the files of the " + ClassCache.SERVERS + " servers without their indexes");
        final boolean agree = replicasAgree(store);
        out.println("quickstart: objects=" + files.size() + " verified=" + verified + " reopened=" + reopened.checked()
                + " mismatches=" + mismatches + " replicas_agree=" + agree);
        return mismatches == 0 && agree && verified == files.size() && reopened.checked() == files.size();
    }

    /** Compares the areas of the closed store; prints where they differ. */
    private boolean replicasAgree(Path store) {
        try (ClosedStore closed = ClosedStore.open(store)) {
            final ReplicaReport report = StoreInspection.of(closed).compareReplicas();
            for (ReplicaReport.ShardDigests shard : report.shards()) {
                if (!shard.agree()) {
                    out.println("  shard " + shard.shard() + " differs: " + shard.replicas());
                }
            }
            return report.differences().isEmpty()
                    && report.unsettled().isEmpty()
                    && report.damagedPlaces() == 0
                    && report.replicas() == ClassCache.REPLICAS;
        }
    }

    private void put(Cache<String, byte[]> cache, List<Path> files, Manifest manifest, StepTimes times)
            throws IOException {
        final ProgressLine progress = new ProgressLine(out, terminal, "put", files.size());
        for (Path file : files) {
            final String key = file.toString();
            final byte[] value = Files.readAllBytes(file);
            manifest.stored(key, value);
            times.put(() -> cache.put(key, value));
            progress.advance();
        }
    }

    private long readBack(Cache<String, byte[]> cache, Manifest manifest, StepTimes times) {
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

    /** Replaces every fifth object by its bytes in reverse, removes every seventh. */
    private void change(Cache<String, byte[]> cache, List<Path> files, Manifest manifest) throws IOException {
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

    private ReopenedStore.Result reopen(Path store, Path manifestFile) throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Quickstart.class.getName(),
                        "--dir",
                        store.toString(),
                        "--reopen",
                        manifestFile.toString(),
                        "--capacity",
                        String.valueOf(capacityBytes))
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

    private static void delete(Path place) throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
