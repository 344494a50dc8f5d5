package org.rowankv.bench.paper.model;

import java.util.SplittableRandom;

/** Random numbers of one entity: what one draws does not change what another draws. The same on every JVM. */
public final class EntityRandom {
    private final SplittableRandom random;

    public EntityRandom(long seed) {
        random = new SplittableRandom(seed);
    }

    /** A seed of a part, which differs from those of all other parts. */
    public static long seedOf(long seed, String part) {
        long mixed = seed ^ 0x9E3779B97F4A7C15L;
        for (int i = 0; i < part.length(); i++) {
            mixed = (mixed ^ part.charAt(i)) * 0xBF58476D1CE4E5B9L;
            mixed ^= mixed >>> 29;
        }
        return mixed;
    }

    /** Returns the randomness of the next entity. */
    public EntityRandom split() {
        return new EntityRandom(random.nextLong());
    }

    public int below(int bound) {
        return random.nextInt(bound);
    }

    public boolean percent(int percent) {
        return random.nextInt(100) < percent;
    }

    /** Uniform from 0 to 1. */
    public double fraction() {
        return random.nextDouble();
    }

    public long exponential(long mean) {
        return Math.round(-StrictMath.log(1 - random.nextDouble()) * mean);
    }

    /** One way through the network. */
    public long oneWayNs() {
        return Costs.ONE_WAY + exponential(Costs.ONE_WAY_JITTER);
    }
}
