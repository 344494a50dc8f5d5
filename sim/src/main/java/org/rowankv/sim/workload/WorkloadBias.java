package org.rowankv.sim.workload;

import org.rowankv.check.history.KeyAction;

/** A temporary bias of all clients: modifies their draws. */
public interface WorkloadBias {
    /** No bias. */
    WorkloadBias NONE = new WorkloadBias() {
        @Override
        public boolean isUsual() {
            return true;
        }

        @Override
        public int key(int drawn) {
            return drawn;
        }
    };

    /** Whether there is no bias. */
    boolean isUsual();

    /** Whether that client may begin an operation. */
    default boolean lets(int client) {
        return true;
    }

    /** A client has completed an operation. @param begun operations that all clients have begun */
    default void ended(int client, int begun) {}

    /** The key to use instead of the drawn one. */
    int key(int drawn);

    /** The action on that key instead of the drawn one. */
    default KeyAction action(KeyAction drawn) {
        return drawn;
    }

    /** Whether values written now should fill segments. */
    default boolean needsLarge() {
        return false;
    }
}
