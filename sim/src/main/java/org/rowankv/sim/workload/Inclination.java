package org.rowankv.sim.workload;

import org.rowankv.check.history.Action;

/** What all clients are up to, for a while: changes what they draw. */
public interface Inclination {
    /** Each does what it likes. */
    Inclination NONE = new Inclination() {
        @Override
        public boolean isUsual() {
            return true;
        }

        @Override
        public int key(int drawn) {
            return drawn;
        }

        @Override
        public Action action(Action drawn) {
            return drawn;
        }

        @Override
        public boolean wantsLarge() {
            return false;
        }
    };

    /** Whether each does what it likes. */
    boolean isUsual();

    /** The key that is asked for instead of the one that was drawn. */
    int key(int drawn);

    /** What is done with that key instead of what was drawn. */
    Action action(Action drawn);

    /** Whether what is written now is to fill segments. */
    boolean wantsLarge();
}
