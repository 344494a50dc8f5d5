package org.rowankv.check.history;

/**
 * One operation on one chain or counter, as its caller saw it.
 *
 * @param caller below 0: the checker
 * @param extending whether it writes the next value; else it reads
 * @param link the value that was read or to be written. A counter's number is unknown without a reply, and then 0
 * @param outcome {@link Outcome#CONDITION_FAILED}: another caller wrote the next value first
 * @param invokedNs before the call
 * @param returnedNs after it; ignored when the outcome is unknown
 */
public record ChainEvent(
        int caller, boolean extending, ChainLink link, Outcome outcome, long invokedNs, long returnedNs)
        implements ReportedOperation {
    private static final int FIELDS = 8;

    /** Formats it as one line of words. */
    public String toLine() {
        return caller + " " + extending + " " + outcome + " " + invokedNs + " " + returnedNs + " " + link.toText();
    }

    /** Parses the result of {@link #toLine}. */
    public static ChainEvent ofLine(String line) {
        final String[] words = line.split(" ");
        if (words.length != FIELDS) {
            throw new IllegalArgumentException("no event: " + line);
        }
        return new ChainEvent(
                Integer.parseInt(words[0]),
                Boolean.parseBoolean(words[1]),
                new ChainLink(Long.parseLong(words[5]), Long.parseLong(words[6]), Long.parseLong(words[7])),
                Outcome.valueOf(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]));
    }

    @Override
    public String question() {
        return extending ? "extend" : "read";
    }

    @Override
    public String answer() {
        return switch (outcome) {
            case UNKNOWN -> "no answer: " + link;
            case REFUSED -> "refused: " + link;
            case NOT_FOUND, CONDITION_FAILED -> "another was first: " + link;
            case DONE -> link.toString();
        };
    }

    @Override
    public String toString() {
        return "caller " + caller + ": " + question() + ": " + answer() + ", from " + invokedNs + " ns"
                + (outcome == Outcome.UNKNOWN ? "" : " to " + returnedNs + " ns");
    }
}
