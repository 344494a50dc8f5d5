package org.rowankv.runtime;

/** The machine's clocks. */
public enum SystemClock implements Clock {
    INSTANCE;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMs() {
        return System.currentTimeMillis();
    }
}
