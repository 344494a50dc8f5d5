package org.rowankv.sim;

/** Runner of an action on a simulation thread; it waits for the end. */
public final class SimOnThread {
    private SimOnThread() {}

    public static void run(Runnable work) {
        final Throwable[] failure = new Throwable[1];
        final SimThread thread = new SimThread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | Error e) {
                        failure[0] = e;
                    }
                },
                "sim");
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        if (failure[0] != null) {
            throw new IllegalStateException("a simulation could not be run", failure[0]);
        }
    }
}
