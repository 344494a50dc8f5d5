package org.rowankv.server.authority;

/**
 * How many members a candidate or manager hears, in both directions: they answer what it sent. The larger side of a
 * split acts at once. A smaller side waits and reads the store again, so that the larger one stores first. Safety never
 * depends on it. Immutable.
 *
 * @param members of the stored configuration, ≥ 1
 * @param heard of these, with the server itself, ≥ 1
 */
public record Reach(int members, int heard) {
    /** A smaller side of a split waits for so long that the larger one stores first. */
    public static final long MINORITY_WAIT_NS = 5_000_000_000L;

    private static final int PAIR = 2;

    public Reach {
        if (members < 1 || heard < 1 || heard > members) {
            throw new IllegalArgumentException(heard + " heard of " + members + " members");
        }
    }

    /** More than half act at once, and so does either of two, since neither side is larger: the first write decides. */
    public boolean actsAtOnce() {
        return 2 * heard > members || members == PAIR;
    }
}
