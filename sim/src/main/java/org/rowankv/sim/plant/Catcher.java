package org.rowankv.sim.plant;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rowankv.sim.command.Form;

/** The simulator or test that must catch a planted bug, with its measured effort and the permitted effort. */
public sealed interface Catcher {
    /** The most that was needed in any run so far: seeds of a simulator, seconds of processor time of a test. */
    int took();

    /** Seeds of a simulator; seconds of elapsed time of a test. Beyond this the bug counts as not caught. */
    int atMost();

    /** The same, with another bound. */
    Catcher within(int newAtMost);

    /** Seeds of a simulator, from the first one on. */
    record BySim(Form form, int took, int atMost) implements Catcher {
        @Override
        public Catcher within(int newAtMost) {
            return new BySim(form, took, newAtMost);
        }

        @Override
        public String toString() {
            return "sim " + form.options();
        }
    }

    /**
     * A test class, or one of its methods.
     *
     * @param module its directory
     * @param type its full name
     * @param method empty for all of them
     */
    record ByTest(String module, String type, String method, int took, int atMost) implements Catcher {
        @Override
        public Catcher within(int newAtMost) {
            return new ByTest(module, type, method, took, newAtMost);
        }

        @Override
        public String toString() {
            return module + ":" + type + (method.isEmpty() ? "" : "#" + method);
        }
    }

    /** Parses the text in a table. */
    static Catcher parse(String text) {
        final Matcher sim = Syntax.SIM.matcher(text);
        if (sim.matches()) {
            return checked(text, new BySim(Form.of(sim.group(1)), number(sim.group(2)), number(sim.group(3))));
        }
        final Matcher test = Syntax.TEST.matcher(text);
        if (test.matches()) {
            final String method = test.group(3) == null ? "" : test.group(3);
            return checked(
                    text,
                    new ByTest(test.group(1), test.group(2), method, number(test.group(4)), number(test.group(5))));
        }
        throw new IllegalArgumentException("'" + text + "' is none of " + Syntax.FORMS);
    }

    private static Catcher checked(String text, Catcher catcher) {
        if (catcher.took() < 1 || catcher.took() > catcher.atMost()) {
            throw new IllegalArgumentException("'" + text + "': it took 1 or more, and not more than it may take");
        }
        return catcher;
    }

    private static int number(String digits) {
        return Integer.parseInt(digits);
    }

    /** The textual forms of a catcher. */
    final class Syntax {
        private static final String FORMS =
                "'sim --embedded, took 17 seeds, at most 200', the same of other forms of sim, and"
                        + " 'MODULE:org.rowankv.SomeTest#shouldFind, took 3 s, at most 60' (#METHOD may be left out)";
        private static final Pattern SIM =
                Pattern.compile("sim (--[a-z]+(?: [a-z]+)?), took (\\d+) seeds?, at most (\\d+)");
        private static final Pattern TEST =
                Pattern.compile("([a-z/-]+):([\\w.]+Test)(?:#(\\w+))?, took (\\d+) s, at most (\\d+)");

        private Syntax() {}
    }
}
