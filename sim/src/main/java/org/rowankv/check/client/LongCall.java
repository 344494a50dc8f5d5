package org.rowankv.check.client;

/**
 * A slow call of the cache API.
 *
 * @param name of the operation, without blanks
 * @param isCompound whether it reads before it changes something: it then sends several requests, each with its own
 *     deadline
 * @param lagNs delay of the JVM's timer during the call
 */
public record LongCall(String name, boolean isCompound, long invokedNs, long returnedNs, long lagNs) {
    private static final int FIELDS = 5;

    /** Formats it as one line of words. */
    String toLine() {
        return name + " " + isCompound + " " + invokedNs + " " + returnedNs + " " + lagNs;
    }

    /** Parses the result of {@link #toLine}. */
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
