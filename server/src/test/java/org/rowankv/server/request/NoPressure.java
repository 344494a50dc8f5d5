package org.rowankv.server.request;

/** Only the test frees space, and agents' quiet cycles end when the test counts them. */
final class NoPressure implements SpacePressure {
    private long settled;

    void settle(int cycles) {
        settled += cycles;
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        return false;
    }

    @Override
    public void wakeUp(int server) {
        // There is no agent to wake.
    }

    @Override
    public void requestSpace(int server) {
        // The test frees space explicitly.
    }

    @Override
    public long quietCycles(int server) {
        return settled;
    }
}
