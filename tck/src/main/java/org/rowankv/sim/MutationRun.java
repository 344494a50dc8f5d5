package org.rowankv.sim;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;

/** Plants every known bug, one at a time, and counts the seeds until it is found. */
public final class MutationRun {
    private static final int MOST_SEEDS = 2_000;
    private static final long FIRST_SEED = 1;

    private final int threads;
    private final Clock clock;
    private final PrintStream out;
    private final Deque<PlantedBug> bugs = new ArrayDeque<>();
    private final List<String> survivors = new ArrayList<>();
    private final int count;
    private final Class<? extends Callable<String>> mutant;

    /**
     * @param only those whose names contain this
     * @param mutant what runs the seeds, inside the program with the bug
     */
    public MutationRun(
            int threads,
            String only,
            Clock clock,
            PrintStream out,
            List<PlantedBug> all,
            Class<? extends Callable<String>> mutant) {
        this.threads = threads;
        this.clock = clock;
        this.out = out;
        this.mutant = mutant;
        all.stream().filter(bug -> bug.name().contains(only)).forEach(bugs::add);
        this.count = bugs.size();
    }

    /** Whether all were found. */
    public boolean run() {
        final Path root = sourceRoot();
        final List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final Thread worker = new Thread(() -> work(root), "sim-mutations-" + i);
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            try {
                worker.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
        survivors.forEach(survivor -> out.println("sim: not found: " + survivor));
        out.println("sim: mutations=" + count + " survivors=" + survivors.size());
        return survivors.isEmpty();
    }

    private void work(Path root) {
        for (PlantedBug bug = next(); bug != null; bug = next()) {
            final long start = clock.nanoTime();
            String found;
            try {
                found = seedsToFind(bug, root, MOST_SEEDS);
            } catch (RuntimeException | Error e) {
                found = "";
                print(bug.name() + " could not be planted: " + e);
            }
            final int space = found.indexOf(' ');
            final String seeds = found.isEmpty() ? "not in " + MOST_SEEDS : found.substring(0, space);
            print(String.format(
                    Locale.ROOT,
                    "%-52s %10s seeds  %6.1f s  %s",
                    bug.name(),
                    seeds,
                    (clock.nanoTime() - start) / 1e9,
                    found.isEmpty() ? "" : found.substring(space + 1, Math.min(found.length(), space + 90))));
            if (found.isEmpty()) {
                survived(bug.name());
            }
        }
    }

    private synchronized @Nullable PlantedBug next() {
        return bugs.poll();
    }

    private synchronized void survived(String name) {
        survivors.add(name);
    }

    private synchronized void print(String line) {
        out.println(line);
    }

    /** The number of seeds and what was found, or an empty string. What the code shows without the bug does not count. */
    private String seedsToFind(PlantedBug bug, Path root, int most) {
        try {
            final Class<?> changed = MutantLoader.with(bug, root).loadClass(mutant.getName());
            int tried = 0;
            while (tried < most) {
                final String found = (String) ((Callable<?>) changed.getConstructor(long.class, int.class)
                                .newInstance(FIRST_SEED + tried, most - tried))
                        .call();
                if (found.isEmpty()) {
                    return "";
                }
                final int space = found.indexOf(' ');
                tried += Integer.parseInt(found.substring(0, space));
                if (mutant.getConstructor(long.class, int.class)
                        .newInstance(FIRST_SEED + tried - 1, 1)
                        .call()
                        .isEmpty()) {
                    return tried + found.substring(space);
                }
            }
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a planted bug could not be loaded", e);
        }
    }

    /** Where the sources are: above the place that the program was started in, or that it was loaded from. */
    public static Path sourceRoot() {
        final Path here = Path.of("").toAbsolutePath();
        final Path loaded = Path.of(MutationRun.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath());
        for (Path start : List.of(loaded, here)) {
            for (Path place = start; place != null; place = place.getParent()) {
                if (Files.isDirectory(place.resolve("server/src/main/java"))) {
                    return place;
                }
            }
        }
        throw new IllegalStateException("planting bugs needs the sources: start this inside the source tree");
    }
}
