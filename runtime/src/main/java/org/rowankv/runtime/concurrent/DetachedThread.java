package org.rowankv.runtime.concurrent;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Threads that hold nothing of the application whose call creates them. A thread of Java otherwise inherits the context
 * class loader, the inheritable thread locals and, until Java 24, the access-control context of the creating thread, and
 * keeps the application's classes as long as it lives; a store may outlive the application that opens it. Thread-safe.
 */
public final class DetachedThread {
    private DetachedThread() {}

    /** Returns a daemon thread that is not started yet. */
    @SuppressWarnings("removal") // until Java 24 nothing else keeps the creator's protection domains away
    public static Thread of(Runnable work, String name) {
        final Thread thread =
                AccessController.doPrivileged((PrivilegedAction<Thread>) () -> new Thread(null, work, name, 0, false));
        thread.setDaemon(true);
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        return thread;
    }
}
