package org.rowankv.check.history;

/**
 * One operation on one key, as its caller saw it through an API without versions. Values are represented by ids, each
 * of one write of the run.
 *
 * @param caller the calling thread's number; below 0: the checker
 * @param written the id of the value to store, or {@link Event#ABSENT}
 * @param expected the id of the value to compare with, or {@link Event#ABSENT}
 * @param outcome {@link Outcome#CONDITION_FAILED}: nothing was changed, because of the existing object; {@link
 *     Outcome#NOT_FOUND}: because there was none
 * @param observed the id of the value that was read, replaced or removed; {@link Event#ABSENT} if there was none;
 *     {@link Event#NOT_ASKED} where the reply omits it; or {@link Event#TORN}
 * @param invokedNs before the call
 * @param returnedNs after it; ignored when the outcome is unknown
 */
public record ValueEvent(
        int caller,
        ValueAction action,
        long written,
        long expected,
        Outcome outcome,
        long observed,
        long invokedNs,
        long returnedNs)
        implements ReportedOperation {
    private static final int FIELDS = 8;

    /** Formats it as one line of words. */
    public String toLine() {
        return caller + " " + action + " " + written + " " + expected + " " + outcome + " " + observed + " " + invokedNs
                + " " + returnedNs;
    }

    /** Parses the result of {@link #toLine}. */
    public static ValueEvent ofLine(String line) {
        final String[] words = line.split(" ");
        if (words.length != FIELDS) {
            throw new IllegalArgumentException("no event: " + line);
        }
        return new ValueEvent(
                Integer.parseInt(words[0]),
                ValueAction.valueOf(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Outcome.valueOf(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]));
    }

    @Override
    public String question() {
        return action.label()
                + (action.stores() ? " #" + written : "")
                + (action.compares() ? " where #" + expected + " is" : "");
    }

    @Override
    public String answer() {
        return switch (outcome) {
            case UNKNOWN -> "no answer";
            case REFUSED -> "refused";
            case NOT_FOUND -> "nothing there";
            case CONDITION_FAILED -> "another value present";
            case DONE ->
                observed == Event.NOT_ASKED
                        ? "done"
                        : observed == Event.TORN
                                ? "done: found bytes that no caller wrote"
                                : observed == Event.ABSENT ? "done: no object" : "done: #" + observed;
        };
    }
}
