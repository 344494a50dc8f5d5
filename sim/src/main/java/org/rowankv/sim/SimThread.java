package org.rowankv.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;

/**
 * A thread that runs simulations in sequence. All such threads report the same id, because production code distributes
 * threads by id. The same seed must give the same run on any thread.
 */
public class SimThread extends Thread {
    private static final long ID = 1;

    private @Nullable Consumer<String> points;

    public SimThread(Runnable work, String name) {
        super(work, name);
    }

    @Override
    @SuppressWarnings("deprecation") // from Java 19 on; the only one before
    public final long getId() {
        return ID;
    }

    public static SimThread current() {
        if (Thread.currentThread() instanceof SimThread own) {
            return own;
        }
        throw new IllegalStateException("simulations run on their own threads");
    }

    /** Routes the points of all simulations to the one on the current thread. */
    public static void installPoints() {
        Chaos.install(name -> {
            if (Thread.currentThread() instanceof SimThread own && own.points != null) {
                own.points.accept(name);
            }
        });
    }

    /** Sets the consumer of the points that this thread reaches. */
    public final void tells(@Nullable Consumer<String> reader) {
        points = reader;
    }
}
