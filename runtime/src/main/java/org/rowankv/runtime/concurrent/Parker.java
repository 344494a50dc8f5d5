package org.rowankv.runtime.concurrent;

import java.util.concurrent.locks.LockSupport;

/** Park and unpark operations of threads, injected so that a test can explore every schedule. */
public interface Parker {
    /** The JVM's own park and unpark. */
    Parker THREADS = new Parker() {
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

    /** Parks the calling thread until it is unparked, or for about this long. May return early. */
    void park(long ns);

    /** Parks the calling thread until it is unparked. May return early. */
    void park();

    /** Unparks the thread, or lets its next park return at once. */
    void unpark(Thread thread);
}
