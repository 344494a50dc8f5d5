package org.rowankv.sim;

import org.rowankv.runtime.RandomSource;

/** Decides what happens at a point. In each run some points are left alone and some are favoured. */
final class Chance {
    enum Event {
        NOTHING,
        /** Others go on for a moment. */
        YIELD,
        /** Others go on for long. */
        STALL,
        /** The thread dies, if it is a caller's. */
        DEATH
    }

    private static final int MYRIAD = 10_000;

    private final SimPlan plan;
    private final RandomSource random;

    Chance(SimPlan plan, RandomSource random) {
        this.plan = plan;
        this.random = random;
    }

    /** How much this run favours a point: a weight, 0 where nothing but a death ever happens. */
    int favour(String name) {
        final int drawn = random.fork(name).nextInt(4);
        return drawn == 3 ? 6 : drawn;
    }

    Event draw(int favour) {
        int drawn = random.nextInt(MYRIAD);
        if (drawn < plan.yieldPerMyriad() * favour) {
            return Event.YIELD;
        }
        drawn -= plan.yieldPerMyriad() * favour;
        if (drawn < plan.stallPerMyriad() * favour) {
            return Event.STALL;
        }
        drawn -= plan.stallPerMyriad() * favour;
        return drawn < plan.deathPerMyriad() ? Event.DEATH : Event.NOTHING;
    }
}
