package org.rowankv.runtime;

/**
 * A source of random numbers; all random decisions draw from one, so a run can be repeated from its seed.
 *
 * <p>Confined to one thread at a time: each component forks its own.
 */
public interface RandomSource {

    long nextLong();

    /** Uniform in 0 to {@code bound} - 1; {@code bound} must be positive. */
    int nextInt(int bound);

    /**
     * Creates a separate source for the named component. Its numbers depend only on this source's seed and the name,
     * not on earlier draws: one component's draws never shift another's. Equal names give equal streams.
     */
    RandomSource fork(String name);
}
