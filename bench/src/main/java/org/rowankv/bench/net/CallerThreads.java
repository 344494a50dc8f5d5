package org.rowankv.bench.net;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Factory of caller threads: platform threads, or virtual ones from Java 21 on. */
final class CallerThreads {
    private static final @Nullable MethodHandle START_VIRTUAL = find();

    private CallerThreads() {}

    private static @Nullable MethodHandle find() {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    static boolean haveVirtual() {
        return START_VIRTUAL != null;
    }

    /** Starts a platform thread that runs this. */
    static Thread start(String name, Runnable work) {
        final Thread thread = new Thread(work, name);
        thread.start();
        return thread;
    }

    /** Starts a virtual thread that runs this. */
    static Thread startVirtual(Runnable work) {
        if (START_VIRTUAL == null) {
            throw new IllegalStateException("this JVM has no virtual threads: use Java 21 or later");
        }
        try {
            return (Thread) START_VIRTUAL.invokeExact(work);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a virtual thread could not be started", e);
        }
    }
}
