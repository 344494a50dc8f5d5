package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaFileWatcher;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.durability.FileThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops an open store once its files are truncated or removed. The {@link AreaFileWatcher} detects that, or a thread
 * with a memory fault. Thread-safe.
 */
final class FileFaults implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FileFaults.class);

    private final @Nullable Path dir;
    private final List<Area> areas;
    private final Consumer<LostAreaException> stop;
    private final AtomicReference<@Nullable LostAreaException> first = new AtomicReference<>();
    private @Nullable AgentHandle watch;

    /**
     * @param dir null for a store without files: then nothing is watched
     * @param stop ends the service
     */
    FileFaults(@Nullable Path dir, List<Area> areas, Consumer<LostAreaException> stop) {
        this.dir = dir;
        this.areas = List.copyOf(areas);
        this.stop = stop;
    }

    synchronized void watch(Clock clock, Scheduling scheduling, ErrorLog errors) {
        if (dir != null) {
            watch = scheduling.take(new AreaFileWatcher(areas, clock, this::lost), errors);
            watch.start();
        }
    }

    private LostAreaException lost(LostAreaException why) {
        if (first.compareAndSet(null, why)) {
            LOG.error("ROWAN-2001 the store is stopped: {}", why.getMessage());
            stop.accept(why);
        }
        final LostAreaException known = first.get();
        return known == null ? why : known;
    }

    /**
     * Exception for a thread that met the JVM's InternalError for a mapping without bytes, which may occur some steps
     * after the fault.
     */
    RuntimeException explain(InternalError fault) {
        if (dir == null) {
            throw fault; // not from an area of this store
        }
        LostAreaException why;
        try {
            FileThread.run("rowan-file-check", () -> areas.forEach(Area::requireFile));
            why = lost(new LostAreaException(dir.toString(), fault));
        } catch (LostAreaException e) {
            why = lost(e);
        }
        // a new exception: with each caller's stack
        return new IllegalStateException(why.getMessage(), fault);
    }

    /** Stops watching. */
    @Override
    public synchronized void close() {
        if (watch != null) {
            watch.close();
            watch = null;
        }
    }
}
