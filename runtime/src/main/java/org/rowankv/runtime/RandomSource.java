package org.rowankv.runtime;

/**
 * Where every random decision comes from, so that a run can be repeated from its seed.
 *
 * <p>For one thread at a time: each component forks its own.
 */
public interface RandomSource {

    long nextLong();

    /** Uniform in 0 to {@code bound} - 1; the bound is positive. */
    int nextInt(int bound);

    /**
     * A source of its own for the named component. It depends on this source's seed and the name alone, not on what was
     * drawn before, so a component's numbers stay the same when another one draws more. One name, one stream.
     */
    RandomSource fork(String name);
}
