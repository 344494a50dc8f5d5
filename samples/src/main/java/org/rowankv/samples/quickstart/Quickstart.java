package org.rowankv.samples.quickstart;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.samples.run.SampleDirectory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code rowan quickstart}: the main use case on real data, from the first put to a second process that finds
 * everything.
 */
@Command(
        name = "quickstart",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Caches every class file of this JDK in three servers inside this JVM, three replicas of each on disk; reads all"
                    + " back, updates a part, removes a part, closes everything, opens the directory in a new process,"
                    + " checks every object again, and compares the files of the three servers.",
            "With --cluster: against three server processes and a ZooKeeper, see \"rowan quickstart --cluster --help\".",
            "The last line is \"quickstart: objects=N verified=N reopened=N mismatches=0 replicas_agree=true\"; any other"
                    + " result exits non-zero."
        })
public final class Quickstart implements Callable<Integer> {
    @Option(names = "--dir", description = "the store's directory, which is kept (default: a temporary one)")
    private @Nullable Path directory;

    @Option(names = "--objects", description = "maximum number of objects (default: all)")
    private long limit = Long.MAX_VALUE;

    @Option(names = "--reopen", hidden = true, description = "in the second process: the manifest to check against")
    private @Nullable Path manifestToCheck;

    @Option(names = "--uri", hidden = true, description = "in the second process: the store's URI")
    private @Nullable URI uri;

    private final PrintStream out = System.out;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Quickstart()).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (manifestToCheck != null && uri != null) {
            final ReopenedStore.Result result =
                    ReopenedStore.check(uri, ObjectDigests.read(manifestToCheck), out, System.console() != null);
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
        final QuickstartRun run = new QuickstartRun(limit, ownJava(), out);
        final boolean well =
                run.run(new EmbeddedQuickstartStore(store, run.capacityBytes(), directory != null), manifestFile);
        if (directory == null && well) {
            delete(place);
        } else {
            out.flush();
        }
        return well ? 0 : 1;
    }

    private static Path ownJava() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    private static void delete(Path place) throws IOException {
        try (Stream<Path> all = Files.walk(place)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
