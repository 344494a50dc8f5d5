package org.rowankv.server.request;

/** Nobody makes room but the test, and turns of agents that find nothing to do end when it says so. */
final class NoPressure implements SpacePressure {
    private long settled;

    void settle(int turns) {
        settled += turns;
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        return false;
    }

    @Override
    public void wakeUp(int server) {
        // There is nobody to wake up.
    }

    @Override
    public void requestSpace(int server) {
        // The test gives room when it likes.
    }

    @Override
    public long quietCycles(int server) {
        return settled;
    }
}
