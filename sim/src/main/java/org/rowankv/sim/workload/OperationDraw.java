package org.rowankv.sim.workload;

import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.RandomSource;

/**
 * Random draw of a client's operations: by weights, by what the run has covered least, and by the current bias of all
 * clients.
 */
final class OperationDraw {
    private static final KeyAction[] ACTIONS = {
        KeyAction.GET,
        KeyAction.PUT,
        KeyAction.GET_AND_PUT,
        KeyAction.PUT_IF_ABSENT,
        KeyAction.PUT_IF_ABSENT_SINCE,
        KeyAction.REPLACE,
        KeyAction.REPLACE_IF_VERSION,
        KeyAction.REMOVE,
        KeyAction.GET_AND_REMOVE,
        KeyAction.REMOVE_IF_VERSION,
        KeyAction.TOUCH
    };
    private static final int[] USUAL = {10, 9, 4, 3, 3, 2, 6, 4, 2, 2, 2};
    private static final int ALL_USUAL = 47;

    private static final int FORMER_ONE_IN = 40;
    private static final int ASKS_VALUE_ONE_IN = 8;
    private static final int PER_MILLE = 1_000;

    private final Workload workload;
    private final WorkloadPlan plan;
    private final RandomSource random;
    private final WorkloadBias inclination;
    private final ClientKnowledge known;
    private final int[] weights = new int[ACTIONS.length];

    OperationDraw(Workload workload, RandomSource random, WorkloadBias inclination, ClientKnowledge known) {
        this.workload = workload;
        this.plan = workload.plan();
        this.random = random;
        this.inclination = inclination;
        this.known = known;
    }

    /** Draws everything except the value to store. */
    void draw(IssuedRequest asked, long nowNs) {
        final boolean isUsual = inclination.isUsual();
        int key = random.nextInt(plan.keys());
        if (!isUsual) {
            key = inclination.key(key);
        }
        final CacheLife cache = cacheOf(key, isUsual);
        final int number = key / plan.caches().size() % cache.keys();
        final int history = cache.history(number);
        KeyAction action =
                random.nextInt(plan.clearOneIn()) == 0 ? KeyAction.CLEAR : action(stateOf(cache, history, nowNs));
        if (!isUsual) {
            action = inclination.action(action);
        }
        if (action == KeyAction.TOUCH && (!plan.touches() || known.value(history) <= Event.ABSENT)) {
            action = KeyAction.GET;
        }
        asked.begin(cache, number, action);
        asked.expectedVersion =
                action == KeyAction.PUT_IF_ABSENT_SINCE ? known.missVersion(history) : known.version(history);
        if (!action.namesVersion()) {
            asked.expectedVersion = 0;
        }
        if (action == KeyAction.TOUCH) {
            asked.touchedValue = known.value(history);
        }
        if ((action == KeyAction.REMOVE || action == KeyAction.GET_AND_REMOVE) && random.nextInt(4) == 0) {
            asked.condition = Condition.IF_PRESENT;
        }
        asked.needsOld = action == KeyAction.GET
                || action == KeyAction.GET_AND_PUT
                || action == KeyAction.GET_AND_REMOVE
                || random.nextInt(ASKS_VALUE_ONE_IN) == 0 && action != KeyAction.CLEAR && action != KeyAction.TOUCH;
        drawLifetimes(asked);
    }

    private CacheLife cacheOf(int key, boolean isUsual) {
        if (isUsual && random.nextInt(FORMER_ONE_IN) == 0) {
            final CacheLife former = workload.caches().former(random.nextInt(PER_MILLE));
            if (former != null) {
                workload.host().count("former caches asked");
                return former;
            }
        }
        return workload.caches().newest(plan.cacheOf(key));
    }

    /** The state of the key that the client may expect. */
    private KeyState stateOf(CacheLife cache, int history, long nowNs) {
        final long value = known.value(history);
        if (cache.isDestroyed()) {
            return KeyState.DESTROYED;
        }
        if (value <= Event.ABSENT) {
            return KeyState.ABSENT;
        }
        return workload.lifetimes().isOver(history, value, nowNs)
                ? KeyState.EXPIRED
                : workload.lifetimes().isMortal(value) ? KeyState.MORTAL : KeyState.PRESENT;
    }

    private KeyAction action(KeyState state) {
        int all = 0;
        for (int i = 0; i < ACTIONS.length; i++) {
            weights[i] = workload.coverage().weight(ACTIONS[i], state, USUAL[i], ALL_USUAL);
            all += weights[i];
        }
        int drawn = random.nextInt(all);
        int chosen = 0;
        while (drawn >= weights[chosen]) {
            drawn -= weights[chosen++];
        }
        return ACTIONS[chosen];
    }

    private void drawLifetimes(IssuedRequest asked) {
        if (asked.action == KeyAction.TOUCH) {
            drawTouch(asked);
            return;
        }
        final int perMille = plan.ttlPerMille();
        if (perMille == 0 || inclination.needsLarge()) {
            return;
        }
        if (asked.action.stores()) {
            final int drawn = random.nextInt(PER_MILLE);
            if (drawn < perMille) {
                asked.lifetime = LifetimeKind.MORTAL;
                asked.createMs = lifetime();
                asked.updateMs = random.nextInt(4) == 0 ? otherLifetime() : asked.createMs;
            } else if (drawn < 2 * perMille) {
                asked.lifetime = LifetimeKind.KEPT;
                asked.createMs = otherLifetime();
                asked.updateMs = Ttl.UNCHANGED;
            } else if (drawn < 2 * perMille + perMille / 4) {
                asked.lifetime = LifetimeKind.IMMEDIATE;
                drawImmediate(asked);
            }
        }
        final boolean mayMeet = asked.action == KeyAction.GET
                || asked.action.requiresAbsence()
                || asked.action == KeyAction.REPLACE_IF_VERSION
                || asked.action == KeyAction.REMOVE_IF_VERSION;
        if (mayMeet && plan.touches() && random.nextInt(PER_MILLE) < perMille) {
            final boolean isLast = random.nextInt(4) == 0;
            asked.accessMs = isLast ? Ttl.IMMEDIATE : otherLifetime();
            if (asked.accessMs != Ttl.UNCHANGED) {
                asked.lifetime = isLast ? LifetimeKind.LAST_ACCESS : LifetimeKind.ACCESS;
            }
        }
    }

    private void drawTouch(IssuedRequest asked) {
        final int drawn = random.nextInt(16);
        asked.accessMs = drawn < 2 ? Ttl.IMMEDIATE : drawn == 2 ? otherLifetime() : lifetime();
        asked.lifetime = drawn < 2 ? LifetimeKind.LAST_ACCESS : LifetimeKind.ACCESS;
    }

    private void drawImmediate(IssuedRequest asked) {
        final int drawn = random.nextInt(3);
        asked.createMs = drawn == 0 ? otherLifetime() : Ttl.IMMEDIATE;
        asked.updateMs = drawn == 1 ? otherLifetime() : Ttl.IMMEDIATE;
    }

    private long lifetime() {
        return 1L + random.nextInt(plan.longestMs());
    }

    /** Includes invalid lifetimes. */
    private long otherLifetime() {
        final int drawn = random.nextInt(4);
        return drawn == 0 ? Ttl.ETERNAL : drawn == 1 ? Ttl.UNCHANGED : lifetime();
    }
}
