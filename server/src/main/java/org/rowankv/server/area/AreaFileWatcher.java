package org.rowankv.server.area;

import java.util.List;
import java.util.function.Consumer;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;

/**
 * Looks ten times a second whether the files of open areas are what they were. A mapping does not tell: what was cut off
 * shows as zeros up to the end of a page, and as a fault behind it, but only to whoever gets there.
 *
 * <p>Has a thread of its own, since it asks the file system. Tells once, and rests from then on.
 */
public final class AreaFileWatcher implements Agent {
    private static final long INTERVAL_NS = 100_000_000;

    private final List<Area> areas;
    private final Clock clock;
    private final Consumer<LostAreaException> whenLost;
    private long nextNs;
    private boolean told;

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
        if (told || nowNs - nextNs < 0) {
            return 0;
        }
        nextNs = nowNs + INTERVAL_NS;
        try {
            areas.forEach(Area::requireFile);
        } catch (LostAreaException e) {
            told = true;
            whenLost.accept(e);
        }
        return 0;
    }
}
