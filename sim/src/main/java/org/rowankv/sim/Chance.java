package org.rowankv.sim;

import org.rowankv.runtime.RandomSource;

/** Random choice of what happens at a point. In each run some points are left out and some are favoured. */
final class Chance {
    enum Event {
        NOTHING,
        /** Other tasks run for a moment. */
        YIELD,
        /** Other tasks run for a long time. */
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

    /** The weight of a point in this run; 0 where only a death can happen. */
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
