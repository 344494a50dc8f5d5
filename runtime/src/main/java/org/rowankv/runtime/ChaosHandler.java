package org.rowankv.runtime;

/**
 * Callback that decides what happens at a chaos point: it may stall the thread, throw, or return. Called from any
 * thread.
 */
public interface ChaosHandler {

    void onPoint(String name);
}
