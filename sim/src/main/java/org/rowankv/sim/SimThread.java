package org.rowankv.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;

/**
 * A thread that runs one simulation after the other. Every such thread has the same id, since ids are what production
 * code spreads threads by, and the same seed must mean the same run on whatever thread.
 */
public class SimThread extends Thread {
    private static final long ID = 1;

    private @Nullable Consumer<String> points;

    public SimThread(Runnable work, String name) {
        super(work, name);
    }

    @Override
    @SuppressWarnings("deprecation") // from Java 19 on; until then the only one
    public final long getId() {
        return ID;
    }

    public static SimThread current() {
        if (Thread.currentThread() instanceof SimThread own) {
            return own;
        }
        throw new IllegalStateException("simulations run on their own threads");
    }

    /** Lets the points of all simulations on all threads find their own. */
    public static void installPoints() {
        Chaos.install(name -> {
            if (Thread.currentThread() instanceof SimThread own && own.points != null) {
                own.points.accept(name);
            }
        });
    }

    /** Who is told of the points that this thread reaches. */
    public final void tells(@Nullable Consumer<String> reader) {
        points = reader;
    }
}
