package org.rowankv.check.history;

/**
 * A value of a chain: derived from its predecessor, whose id it carries.
 *
 * @param number 1, 2, 3 …; 0: no object; below 0: a value that no caller writes
 * @param id of the write that made it, unique in a run; 0 in a counter, whose values have only a number
 * @param former the id of the preceding value; 0: none, or a counter
 */
public record ChainLink(long number, long id, long former) {
    /** No object. */
    public static final ChainLink NONE = new ChainLink(0, 0, 0);
    /** A value that no caller writes. */
    public static final ChainLink TORN = new ChainLink(Event.TORN, 0, 0);

    private static final int FIELDS = 3;

    /** A value of a counter. */
    public static ChainLink count(long number) {
        return new ChainLink(number, 0, 0);
    }

    /** The value that a write with that id derives from this one. */
    public ChainLink next(long nextId) {
        return new ChainLink(number + 1, nextId, id);
    }

    /** Formats it as three words. */
    public String toText() {
        return number + " " + id + " " + former;
    }

    /** Parses the result of {@link #toText}; {@link #TORN} for any other text. */
    public static ChainLink ofText(String text) {
        final String[] words = text.split(" ");
        try {
            return words.length == FIELDS
                    ? new ChainLink(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]))
                    : TORN;
        } catch (NumberFormatException e) {
            return TORN;
        }
    }

    @Override
    public String toString() {
        return number == 0 ? "nothing" : number < 0 ? "no value of a chain" : id == 0 ? "#" + number : named();
    }

    private String named() {
        return "#" + number + " (id " + id + " after " + former + ")";
    }
}
