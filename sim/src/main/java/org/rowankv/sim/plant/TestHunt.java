package org.rowankv.sim.plant;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.sim.plant.Catcher.ByTest;

/** Search for a planted bug with a test. */
final class TestHunt {
    private static final String FAILURE = "=> ";
    private static final int LINES_OF_A_FAILURE = 4;
    /** Exit code of JUnit's launcher. */
    private static final int NO_TESTS = 2;

    private static final int NOTHING_RAN = 255;
    /** Time limit in seconds without the bug; larger than the bug's bound, because the machine may be busy. */
    private static final int PATIENCE_WITHOUT_BUG = 600;

    private final SourceTree tree;
    private final Map<String, String> reds = new ConcurrentHashMap<>();

    TestHunt(SourceTree tree) {
        this.tree = tree;
    }

    /**
     * Runs the test, which must pass without the bug.
     *
     * @param jvm of the calling thread
     * @param classes the directory of the changed ones
     */
    Verdict hunt(ByTest catcher, WatchedJvm jvm, Path classes) {
        final String red = reds.computeIfAbsent(catcher.toString(), test -> redWithoutBug(catcher, jvm));
        if (!red.isEmpty()) {
            return new Verdict(false, 0, red);
        }
        final WatchedJvm.Ended ended = run(catcher, jvm, classes + File.pathSeparator, catcher.atMost());
        if (ended.wasEnded()) {
            return new Verdict(
                    false,
                    ended.processorSeconds(),
                    "did not end within its bound: a test that may hang needs a timeout");
        }
        return ended.exitCode() == 0
                ? new Verdict(false, ended.processorSeconds(), "green")
                : new Verdict(true, ended.processorSeconds(), failure(ended));
    }

    private String redWithoutBug(ByTest catcher, WatchedJvm jvm) {
        final WatchedJvm.Ended ended = run(catcher, jvm, "", PATIENCE_WITHOUT_BUG);
        if (ended.wasEnded()) {
            return "does not end without the bug";
        }
        return ended.exitCode() == 0 ? "" : "fails without the bug: " + failure(ended);
    }

    private WatchedJvm.Ended run(ByTest catcher, WatchedJvm jvm, String first, int mostSeconds) {
        final boolean whole = catcher.method().isEmpty();
        final List<String> command = tree.javaOfTest(catcher);
        command.addAll(List.of(
                "-cp",
                first + tree.classPathOfTest(catcher.module()),
                "org.junit.platform.console.ConsoleLauncher",
                "execute",
                "--disable-banner",
                "--disable-ansi-colors",
                "--details=summary",
                "--exclude-engine=junit-vintage",
                "--fail-if-no-tests",
                "--select-class=" + catcher.type(),
                // Not by selecting it: a method with parameters would have to be named with their types.
                whole ? "--exclude-tag=long" : "--include-methodname=.*#" + catcher.method()));
        final WatchedJvm.Ended ended =
                jvm.run(command, tree.root().resolve(catcher.module()), mostSeconds, Integer.MAX_VALUE);
        if (ended.exitCode() == NO_TESTS || ended.exitCode() == NOTHING_RAN) {
            throw new IllegalStateException("no test " + catcher + " could be run: " + failure(ended));
        }
        return ended;
    }

    /** The first failure that JUnit reports, with the lines below its exception's name; otherwise how the JVM ended. */
    private static String failure(WatchedJvm.Ended ended) {
        final List<String> lines = ended.lines().stream().map(String::strip).toList();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(FAILURE)) {
                return String.join(" ", lines.subList(i, Math.min(lines.size(), i + LINES_OF_A_FAILURE)))
                        .substring(FAILURE.length());
            }
        }
        return "exit code " + ended.exitCode() + (lines.isEmpty() ? "" : ": " + lines.get(lines.size() - 1));
    }
}
