package org.rowankv.sim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.state.CommitChecker;
import org.rowankv.topology.Configuration;

/** The named points that production code reaches, and what a run draws for each. */
public abstract class SeedPoints {
    /** One of them. */
    protected final class Point {
        /** Inside a monitor no other task can run. */
        public final boolean isInMonitor;

        public final boolean isOfAppend;
        public final boolean isOfStart;
        private final int favour;
        private final EventCounters.Counter reached;

        private Point(String name) {
            this.isInMonitor = name.startsWith("local.fence")
                    || name.startsWith("tcp.")
                    || name.startsWith("leased.")
                    || name.equals("start.taken-over");
            this.isOfAppend = name.startsWith("local.");
            this.isOfStart = name.startsWith("start.") || name.startsWith("configuration.");
            this.favour = chance.favour(name);
            this.reached = run.eventCounters().counter("point " + name);
        }

        /** Counts it. */
        public void reached() {
            reached.add(1);
        }

        /** Draws what happens here. */
        public Chance.Event draw() {
            return chance.draw(favour);
        }
    }

    /** A server has become the primary of a shard. */
    protected static final String OPENED = "opening.opened";
    /** A digest has just committed segments. */
    protected static final String COMMITTED = "digest.committed";

    private final SeedRun run;
    private final Chance chance;
    private final CommitChecker commits;
    private final Map<String, Point> points = new HashMap<>();

    /** @param favours random source of the points' weights */
    protected SeedPoints(SeedRun run, RandomSource favours, RandomSource random) {
        this.run = run;
        this.chance = new Chance(run.plan(), favours, random);
        this.commits = new CommitChecker(run::violation);
    }

    protected final Point point(String name) {
        Point point = points.get(name);
        if (point == null) {
            point = new Point(name);
            points.put(name, point);
        }
        return point;
    }

    /** @param servers as in {@link CommitChecker#onCommitted} */
    protected final void onCommitted(Server server, Configuration configuration, List<@Nullable Server> servers) {
        commits.onCommitted(server, configuration, servers);
    }
}
