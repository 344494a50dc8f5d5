package org.rowankv.samples.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.samples.run.ChildJvm;
import org.rowankv.samples.run.SampleDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo redeploy}: one process fills a cache and exits, the next one finds everything. */
@Command(
        name = "redeploy",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "A process fills a cache with a dir through javax.cache; another one replaces it, as when an application is"
                    + " redeployed. The new one must have every object, byte for byte. Shows the time from the start of the"
                    + " new process to the open cache, to the answer of the first get, and to the end of verification.",
            "The last line is \"redeploy: objects=N verified=N missing=0 first_get_ms=N\"; the exit code is non-zero if"
                    + " anything is missing or wrong, not if it took long."
        })
final class RedeployDemo implements Callable<Integer> {
    private static final long TARGET_MS = 2_000;

    @Option(
            names = "--objects",
            description = "number of objects (default: ${DEFAULT-VALUE})",
            defaultValue = "1000000")
    private int objects;

    @Option(
            names = "--kill",
            description = "the old process does not close its cache but receives SIGKILL while it writes")
    private boolean kill;

    @Option(
            names = "--servers",
            description = "servers in each process (default: ${DEFAULT-VALUE})",
            defaultValue = "1")
    private int servers;

    @Option(
            names = "--replicas",
            description = "servers that hold each object (default: ${DEFAULT-VALUE})",
            defaultValue = "1")
    private int replicas;

    @Option(names = "--seed", description = "seed of the values (default: ${DEFAULT-VALUE})", defaultValue = "1")
    private long seed;

    @Option(names = "--dir", description = "the store's directory, which is kept (default: a temporary one)")
    private @Nullable Path directory;

    @Spec
    private CommandSpec spec;

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws IOException, InterruptedException {
        require(objects >= 1, "--objects must be at least 1, not " + objects);
        require(servers >= 1, "--servers must be at least 1, not " + servers);
        require(
                replicas >= 1 && replicas <= servers,
                "--replicas must be 1.." + servers + " (the number of servers), not " + replicas);
        final String whyNot = directory == null ? null : SampleDirectory.whyNot(directory);
        require(whyNot == null, String.valueOf(whyNot));
        final Path place =
                directory == null ? Files.createTempDirectory("rowan-redeploy-") : Files.createDirectories(directory);
        final boolean well = run(new DeployedStore(
                place.resolve(SampleDirectory.STORE).toAbsolutePath(),
                servers,
                replicas,
                DeployedStore.capacityFor(objects, servers, replicas),
                objects,
                seed,
                System.console() != null));
        if (directory == null && well) {
            delete(place);
        }
        return well ? 0 : 1;
    }

    private void require(boolean condition, String message) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    private boolean run(DeployedStore store) throws IOException, InterruptedException {
        out.printf(
                Locale.ROOT,
                "%,d objects of %d to %d bytes; servers %d, replicas %d, %d MiB each, in %s%n",
                objects,
                DerivedObjects.SHORTEST,
                DerivedObjects.LONGEST,
                servers,
                replicas,
                store.capacityBytes() >> 20,
                store.directory());
        return replaced(store) && taken(store);
    }

    /** Runs the old process to its end. */
    private boolean replaced(DeployedStore store) throws IOException, InterruptedException {
        try (ChildJvm old = new ChildJvm(OldApplication.class, store.toArguments())) {
            final String filled = old.await(OldApplication.FILLED);
            if (filled == null) {
                out.println("the old process ended before the cache was full, with exit code " + old.awaitEnd());
                return false;
            }
            final String[] bytesAndNs = filled.split(" ");
            final double seconds = Long.parseLong(bytesAndNs[1]) / 1e9;
            out.printf(
                    Locale.ROOT,
                    "  filled: %,d bytes of keys and values in %.2f s, %,.0f puts/s (one caller)%n",
                    Long.parseLong(bytesAndNs[0]),
                    seconds,
                    objects / seconds);
            final long leavingNs = old.elapsedNs();
            if (kill) {
                old.kill();
                out.println("  the old process was killed while it wrote");
                return true;
            }
            final int exitCode = old.end();
            out.printf(
                    Locale.ROOT,
                    "  the old process has closed its cache and ended in %.2f s%n",
                    (old.elapsedNs() - leavingNs) / 1e9);
            if (exitCode != 0) {
                out.println("  but with exit code " + exitCode);
            }
            return exitCode == 0;
        }
    }

    /** Runs the new process. */
    private boolean taken(DeployedStore store) throws IOException, InterruptedException {
        try (ChildJvm fresh = new ChildJvm(NewApplication.class, store.toArguments())) {
            fresh.await(NewApplication.OPEN);
            final long openMs = fresh.elapsedNs() / 1_000_000;
            fresh.await(NewApplication.FIRST);
            final long firstMs = fresh.elapsedNs() / 1_000_000;
            final String words = fresh.await(NewApplication.VERIFIED);
            final long allMs = fresh.elapsedNs() / 1_000_000;
            final int exitCode = fresh.awaitEnd();
            if (words == null || exitCode != 0) {
                out.println("the new process ended with exit code " + exitCode
                        + (words == null ? " before it had verified everything" : ""));
            }
            final NewApplication.Findings found =
                    words == null ? NewApplication.Findings.NONE : NewApplication.Findings.ofWords(words);
            out.println();
            out.println("  after the start of the new process           ms");
            row("  cache open", openMs, "");
            row(
                    "  first get answered",
                    firstMs,
                    "   target < " + TARGET_MS / 1000 + " s: " + (firstMs < TARGET_MS ? "reached" : "MISSED"));
            row("  every object verified, by key and iterator", allMs, "");
            out.println();
            if (found.listed() != objects) {
                out.println("  the iterator returned " + found.listed() + " of them with the expected value");
            }
            out.println("redeploy: objects=" + objects + " verified=" + found.verified() + " missing=" + found.missing()
                    + " first_get_ms=" + firstMs);
            return exitCode == 0 && found.verified() == objects && found.listed() == objects;
        }
    }

    private void row(String title, long ms, String remark) {
        out.printf(Locale.ROOT, "%-44s %,7d%s%n", title, ms, remark);
    }

    private static void delete(Path place) throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
