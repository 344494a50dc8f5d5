package org.rowankv.server.area;

import java.util.List;
import java.util.function.Consumer;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;

/**
 * Checks ten times a second that the files of open areas are unchanged. A mapping does not report it: a truncated part
 * reads as zeros up to the end of a page, and faults after it.
 *
 * <p>Has its own thread, since it accesses the file system. Reports once, then stays idle.
 */
public final class AreaFileWatcher implements Agent {
    private static final long INTERVAL_NS = 100_000_000;

    private final List<Area> areas;
    private final Clock clock;
    private final Consumer<LostAreaException> whenLost;
    private long nextNs;
    private boolean reported;

    public AreaFileWatcher(List<Area> areas, Clock clock, Consumer<LostAreaException> whenLost) {
        this.areas = List.copyOf(areas);
        this.clock = clock;
        this.whenLost = whenLost;
        this.nextNs = clock.nanoTime() + INTERVAL_NS;
    }

    @Override
    public String roleName() {
        return "file-watch";
    }

    @Override
    public int doWork() {
        final long nowNs = clock.nanoTime();
        if (reported || nowNs - nextNs < 0) {
            return 0;
        }
        nextNs = nowNs + INTERVAL_NS;
        try {
            areas.forEach(Area::requireFile);
        } catch (LostAreaException e) {
            reported = true;
            whenLost.accept(e);
        }
        return 0;
    }
}
