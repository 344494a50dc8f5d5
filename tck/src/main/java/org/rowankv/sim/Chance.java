package org.rowankv.sim;

import java.util.HashMap;
import java.util.Map;
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
    private final Map<String, Integer> favour = new HashMap<>();

    Chance(SimPlan plan, RandomSource random) {
        this.plan = plan;
        this.random = random;
    }

    Event at(String name) {
        Integer own = favour.get(name);
        if (own == null) {
            final int drawn = random.fork(name).nextInt(4);
            own = drawn == 3 ? 6 : drawn;
            favour.put(name, own);
        }
        int drawn = random.nextInt(MYRIAD);
        if (drawn < plan.yieldPerMyriad() * own) {
            return Event.YIELD;
        }
        drawn -= plan.yieldPerMyriad() * own;
        if (drawn < plan.stallPerMyriad() * own) {
            return Event.STALL;
        }
        drawn -= plan.stallPerMyriad() * own;
        return drawn < plan.deathPerMyriad() ? Event.DEATH : Event.NOTHING;
    }
}
