package org.rowankv.sim.plant;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.sim.plant.Catcher.BySim;
import org.rowankv.sim.plant.Catcher.ByTest;

/**
 * A run that plants bugs, one at a time, and runs their catchers. Each catcher runs in its own JVM, with the changed
 * classes first on the class path.
 */
final class MutationRun {
    private static final int SHOWN = 110;

    private final List<PlantedBug> bugs;
    private final int threads;
    private final Clock clock;
    private final PrintStream out;
    private final SourceTree tree;
    private final TestHunt tests;
    private final Iterator<PlantedBug> next;
    private final List<String> survivors = new ArrayList<>();
    private int done;

    MutationRun(List<PlantedBug> bugs, SourceTree tree, int threads, Clock clock, PrintStream out) {
        this.bugs = bugs;
        this.tree = tree;
        this.threads = threads;
        this.clock = clock;
        this.out = out;
        this.tests = new TestHunt(tree);
        this.next = bugs.iterator();
    }

    /** Returns whether all were caught. */
    boolean run() {
        final List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final Thread worker = new Thread(this::work, "planted-bugs-" + i);
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
        survivors.forEach(survivor -> out.println("sim: not caught: " + survivor));
        out.println("sim: mutations=" + bugs.size()
                + " survived_at_first="
                + bugs.stream().filter(PlantedBug::survivedAtFirst).count()
                + " survivors=" + survivors.size());
        return survivors.isEmpty();
    }

    private void work() {
        try (BugCompiler compiler = new BugCompiler()) {
            for (PlantedBug bug = next(); bug != null; bug = next()) {
                final Path room = Files.createTempDirectory("rowan-planted-bug");
                try {
                    report(bug, verdict(bug, compiler, room));
                } finally {
                    delete(room);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("planted bugs need a directory for the compiled classes", e);
        }
    }

    private Verdict verdict(PlantedBug bug, BugCompiler compiler, Path room) throws IOException {
        try {
            final Path classes = room.resolve("classes");
            for (Map.Entry<String, byte[]> changed : compiler.compile(bug, tree).entrySet()) {
                final Path file = classes.resolve(changed.getKey().replace('.', '/') + ".class");
                Files.createDirectories(file.getParent());
                Files.write(file, changed.getValue());
            }
            final WatchedJvm jvm = new WatchedJvm(clock, room.resolve("output"));
            if (bug.catcher() instanceof ByTest test) {
                return tests.hunt(test, jvm, classes);
            }
            return new SimHunt(tree, jvm).hunt((BySim) bug.catcher(), classes);
        } catch (IllegalStateException e) {
            return new Verdict(false, 0, "could not be checked: " + e.getMessage());
        }
    }

    private static void delete(Path room) throws IOException {
        try (Stream<Path> files = Files.walk(room)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private synchronized @Nullable PlantedBug next() {
        return next.hasNext() ? next.next() : null;
    }

    private synchronized void report(PlantedBug bug, Verdict verdict) {
        done++;
        final String what = verdict.what().strip();
        out.printf(
                Locale.ROOT,
                "sim: %d/%d %s: %s %s after %d %s: %s%n",
                done,
                bugs.size(),
                bug.name(),
                verdict.caught() ? "caught by" : "NOT CAUGHT by",
                bug.catcher(),
                verdict.after(),
                bug.catcher() instanceof BySim ? "seeds" : "s",
                what.length() > SHOWN ? what.substring(0, SHOWN) + "..." : what);
        if (!verdict.caught()) {
            survivors.add(bug.name() + " (" + bug.catcher() + "): " + what);
        }
    }
}
