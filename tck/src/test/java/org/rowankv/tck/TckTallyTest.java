package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.logging.Logger;
import org.jsr107.tck.testutil.AllTestExcluder;
import org.junit.Assert;
import org.junit.Assume;
import org.junit.BeforeClass;
import org.junit.Ignore;
import org.junit.Rule;
import org.junit.jupiter.api.Test;
import org.junit.rules.MethodRule;
import org.junit.runner.JUnitCore;

class TckTallyTest {
    /** One test per outcome. */
    public static class EveryEnd {
        @org.junit.Test
        public void passes() {}

        @org.junit.Test
        public void doesNotHold() {
            Assert.fail("on purpose");
        }

        @org.junit.Test
        public void throwsSomething() {
            throw new IllegalStateException("on purpose");
        }

        @Ignore("on purpose")
        @org.junit.Test
        public void isIgnored() {}

        @org.junit.Test
        public void assumesTooMuch() {
            Assume.assumeTrue(false);
        }
    }

    /** Excluded as the TCK does it: the tests pass. */
    public static class LeftOut {
        @Rule
        public final MethodRule rule = new AllTestExcluder();

        @org.junit.Test
        public void wouldFail() {
            Assert.fail("must not run");
        }
    }

    /** Inherited tests count under the subclass's name, unlike in the TCK's log. */
    public static final class LeftOutToo extends LeftOut {}

    /** A class whose tests never start. */
    public static final class NeverStarts {
        @BeforeClass
        public static void fails() {
            throw new IllegalStateException("on purpose");
        }

        @org.junit.Test
        public void passes() {}
    }

    private final TckTally tally = new TckTally();

    private void run(Class<?>... classes) {
        final JUnitCore core = new JUnitCore();
        core.addListener(tally);
        final Exclusions exclusions = new Exclusions(tally::onExclusion);
        try {
            core.run(classes);
        } finally {
            exclusions.close();
        }
    }

    @Test
    void shouldTellTheEndsApart() {
        run(EveryEnd.class);
        assertThat(tally.counts()).isEqualTo("run=5 failures=1 errors=1 skipped=2");
        assertThat(tally.problems())
                .hasSize(2)
                .anyMatch(problem -> problem.startsWith("failure: " + EveryEnd.class.getName() + "#doesNotHold\n"))
                .anyMatch(problem -> problem.startsWith("error: " + EveryEnd.class.getName() + "#throwsSomething\n"));
        assertThat(tally.skippedNames())
                .containsExactly(EveryEnd.class.getName() + "#assumesTooMuch", EveryEnd.class.getName() + "#isIgnored");
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void shouldCountAsSkippedWhatTheTckLeavesOut() {
        run(LeftOut.class, LeftOutToo.class);
        assertThat(tally.counts()).isEqualTo("run=2 failures=0 errors=0 skipped=2");
        assertThat(tally.skippedNames())
                .containsExactly(LeftOut.class.getName() + "#wouldFail", LeftOutToo.class.getName() + "#wouldFail");
    }

    @Test
    void shouldNotTakeATestForSkippedBecauseTheOneBeforeItWas() {
        run(LeftOut.class, EveryEnd.class);
        assertThat(tally.counts()).isEqualTo("run=6 failures=1 errors=1 skipped=3");
    }

    @Test
    void shouldCountAClassThatNeverStarts() {
        run(NeverStarts.class);
        assertThat(tally.counts()).isEqualTo("run=0 failures=0 errors=1 skipped=0");
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void shouldNotBeCleanWhenNothingRan() {
        assertThat(tally.isClean()).isFalse();
    }

    @Test
    void shouldLeaveTheLogAsItWas() {
        final Logger logger = Logger.getLogger("org.jsr107.tck");
        run(LeftOut.class);
        assertThat(logger.getHandlers()).isEmpty();
        assertThat(logger.getLevel()).isNull();
        assertThat(logger.getUseParentHandlers()).isTrue();
    }
}
