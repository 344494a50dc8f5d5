package org.rowankv.sim;

import org.rowankv.runtime.RandomSource;

/** Random choice of what happens at a point. In each run some points are left out and some are favoured. */
public final class Chance {
    /** What happens. */
    public enum Event {
        NOTHING,
        /** Other tasks run for a moment. */
        YIELD,
        /** Other tasks run for a long time. */
        STALL,
        /** The thread dies, if it is a caller's. */
        DEATH
    }

    private static final int MYRIAD = 10_000;

    private final int yieldPerMyriad;
    private final int stallPerMyriad;
    private final int deathPerMyriad;
    private final RandomSource favours;
    private final RandomSource random;

    Chance(SimPlan plan, RandomSource favours, RandomSource random) {
        this.yieldPerMyriad = plan.yieldPerMyriad();
        this.stallPerMyriad = plan.stallPerMyriad();
        this.deathPerMyriad = plan.deathPerMyriad();
        this.favours = favours;
        this.random = random;
    }

    /** The weight of a point in this run; 0 where only a death can happen. */
    int favour(String name) {
        final int drawn = favours.fork(name).nextInt(4);
        return drawn == 3 ? 6 : drawn;
    }

    Event draw(int favour) {
        int drawn = random.nextInt(MYRIAD);
        if (drawn < yieldPerMyriad * favour) {
            return Event.YIELD;
        }
        drawn -= yieldPerMyriad * favour;
        if (drawn < stallPerMyriad * favour) {
            return Event.STALL;
        }
        drawn -= stallPerMyriad * favour;
        return drawn < deathPerMyriad ? Event.DEATH : Event.NOTHING;
    }
}
