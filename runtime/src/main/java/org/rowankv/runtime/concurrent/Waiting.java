package org.rowankv.runtime.concurrent;

import java.util.concurrent.locks.LockSupport;

/** How threads park and wake each other up. Given to those that do, so that a test can explore every schedule. */
public interface Waiting {
    /** As the machine's threads do it. */
    Waiting THREADS = new Waiting() {
        @Override
        public void park(long ns) {
            LockSupport.parkNanos(this, ns);
        }

        @Override
        public void park() {
            LockSupport.park(this);
        }

        @Override
        public void unpark(Thread thread) {
            LockSupport.unpark(thread);
        }
    };

    /** Parks the calling thread, until it is unparked or for about that long. May return early. */
    void park(long ns);

    /** Parks the calling thread until it is unparked. May return early. */
    void park();

    /** Wakes the thread up, or lets its next park return at once. */
    void unpark(Thread thread);
}
