package org.rowankv.tck;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Counts as the TCK's own build would: an assertion that does not hold is a failure, anything else thrown an error. The
 * TCK lets tests of what is not supported, or is on its exclude list, pass without doing anything; here they count as
 * skipped. Called by JUnit on one thread.
 */
final class TckTally extends RunListener {
    private static final String BY_REFERENCE = "org.jsr107.tck.StoreByReferenceTest";
    private static final Set<String> PASSED_SILENTLY = Set.of(
            "org.jsr107.tck.CachingTest#dummyTest",
            "org.jsr107.tck.TypesTest#simpleAPINoGenericsAndNoTypeEnforcementStoreByReference");

    private final List<String> problems = new ArrayList<>();
    private final Set<String> skipped = new HashSet<>();
    private int run;
    private int failures;
    private int errors;

    @Override
    public void testFinished(Description description) {
        run++;
        final String name = nameOf(description);
        if (description.getClassName().equals(BY_REFERENCE) || PASSED_SILENTLY.contains(name)) {
            skipped.add(name);
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

    /** What failed, with stack traces. */
    List<String> problems() {
        return problems;
    }

    List<String> skippedNames() {
        return skipped.stream().sorted().toList();
    }

    int passed() {
        return run - failures - errors - skipped.size();
    }

    boolean isClean() {
        return run > 0 && failures == 0 && errors == 0;
    }

    String line() {
        return "tck: run=" + run + " failures=" + failures + " errors=" + errors + " skipped=" + skipped.size()
                + " passed=" + passed();
    }
}
