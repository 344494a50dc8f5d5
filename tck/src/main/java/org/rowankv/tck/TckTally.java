package org.rowankv.tck;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Counter of test results with the rules of the TCK's own build: a failed assertion is a failure, any other throwable
 * an error. The TCK passes tests of unsupported features and tests on its exclude list without running them; such a
 * test, reported by {@link Exclusions}, counts as skipped, whatever the reason. Called by JUnit on one thread.
 */
final class TckTally extends RunListener {
    private final List<String> problems = new ArrayList<>();
    private final Set<String> skipped = new HashSet<>();
    private int run;
    private int failures;
    private int errors;
    private boolean excluded;

    @Override
    public void testStarted(Description description) {
        excluded = false;
    }

    /** Records that the TCK excludes the test in progress. */
    void onExclusion() {
        excluded = true;
    }

    @Override
    public void testFinished(Description description) {
        run++;
        if (excluded) {
            skipped.add(nameOf(description));
        }
    }

    @Override
    public void testIgnored(Description description) {
        run++;
        skipped.add(nameOf(description));
    }

    @Override
    public void testAssumptionFailure(Failure failure) {
        skipped.add(nameOf(failure.getDescription()));
    }

    @Override
    public void testFailure(Failure failure) {
        final boolean assertion = failure.getException() instanceof AssertionError;
        if (assertion) {
            failures++;
        } else {
            errors++;
        }
        problems.add(
                (assertion ? "failure: " : "error: ") + nameOf(failure.getDescription()) + "\n" + failure.getTrace());
    }

    private static String nameOf(Description description) {
        return description.getClassName() + '#' + description.getMethodName();
    }

    /** Failures, with stack traces. */
    List<String> problems() {
        return problems;
    }

    List<String> skippedNames() {
        return skipped.stream().sorted().toList();
    }

    int run() {
        return run;
    }

    /** Whether at least one test ran and none failed. */
    boolean isClean() {
        return run > 0 && failures == 0 && errors == 0;
    }

    String counts() {
        return "run=" + run + " failures=" + failures + " errors=" + errors + " skipped=" + skipped.size();
    }
}
