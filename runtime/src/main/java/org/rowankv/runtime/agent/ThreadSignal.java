package org.rowankv.runtime.agent;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A signal between OS threads. */
final class ThreadSignal implements Signal {
    private final Semaphore given = new Semaphore(0);

    @Override
    public void give() {
        given.release();
    }

    @Override
    public boolean await(long ns) throws InterruptedException {
        final boolean was = given.tryAcquire(ns, TimeUnit.NANOSECONDS);
        final int unused = given.drainPermits();
        return was;
    }
}
