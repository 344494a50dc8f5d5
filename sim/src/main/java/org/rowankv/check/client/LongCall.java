package org.rowankv.check.client;

/**
 * A call of the cache API that took long.
 *
 * @param name of what was asked, without blanks
 * @param isCompound whether it reads before it changes something: it then has several requests, each with its own deadline
 * @param lagNs by how much the timer of its JVM was late meanwhile
 */
public record LongCall(String name, boolean isCompound, long invokedNs, long returnedNs, long lagNs) {
    private static final int FIELDS = 5;

    /** In one line of words. */
    String toLine() {
        return name + " " + isCompound + " " + invokedNs + " " + returnedNs + " " + lagNs;
    }

    /** From {@link #toLine}. */
    static LongCall ofLine(String line) {
        final String[] words = line.split(" ");
        if (words.length != FIELDS) {
            throw new IllegalArgumentException("no call: " + line);
        }
        return new LongCall(
                words[0],
                Boolean.parseBoolean(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]));
    }
}
