package org.rowankv.runtime.agent;

import org.rowankv.runtime.concurrent.DetachedThread;

/** A task on its own OS thread. */
final class ThreadTask implements RunningTask {
    private final Thread thread;

    ThreadTask(String name, boolean isDaemon, Runnable work) {
        this.thread = DetachedThread.of(work, name);
        thread.setDaemon(isDaemon);
        thread.start();
    }

    @Override
    public boolean isOver() {
        return !thread.isAlive();
    }

    @Override
    public void join() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void interrupt() {
        thread.interrupt();
    }
}
