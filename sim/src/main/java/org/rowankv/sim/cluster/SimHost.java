package org.rowankv.sim.cluster;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.sim.NodeClock;
import org.rowankv.sim.device.SimCheckpoints;
import org.rowankv.sim.device.SimMemory;

/** The machine of one server: the state that outlives its processes, and the current process. */
final class SimHost {
    private final ClusterSimulation simulation;
    private final int number;
    private final MemoryPool pool;
    private final RandomSource random;
    private final NodeClock clock;
    private @Nullable SimMemory memory;
    private SimCheckpoints checkpoints = noCheckpoints();
    private @Nullable SimProcess process;
    private long identity;
    private int lives;
    private boolean hasServed;

    SimHost(ClusterSimulation simulation, int number, MemoryPool pool, RandomSource random, NodeClock clock) {
        this.simulation = simulation;
        this.number = number;
        this.pool = pool;
        this.random = random;
        this.clock = clock;
    }

    int number() {
        return number;
    }

    /** Names sort in the order of the servers' numbers. */
    String name() {
        return Character.toString('a' + number);
    }

    int port() {
        return ClusterPlan.FIRST_PORT + number;
    }

    NodeClock clock() {
        return clock;
    }

    @Nullable
    SimProcess process() {
        return process;
    }

    void start() {
        if (process != null) {
            return;
        }
        simulation.trace().tell("server " + name() + " is started");
        final SimProcess started = new SimProcess(simulation, this, ++lives, random.fork("life " + lives));
        process = started;
        started.begin();
    }

    /** Ends the process here. @param isPowerCut whether the machine loses power with it */
    void kill(boolean isPowerCut) {
        final SimProcess dying = process;
        if (dying == null) {
            return;
        }
        process = null;
        simulation.trace().tell("server " + name() + (isPowerCut ? " loses its power" : " is killed"));
        simulation.eventCounters().count("servers killed");
        final SimMemory area = memory;
        if (area != null) {
            checkpoints.crash();
            if (isPowerCut) {
                final int dropped = area.cutPower(random, simulation.eventCounters()::count);
                simulation.eventCounters().count("power cuts");
                simulation.eventCounters().add("words that power cuts dropped", dropped);
                simulation.trace().mix(dropped);
            } else {
                area.crash();
            }
        }
        dying.died(isPowerCut);
    }

    /** Ends the process here, and its data. */
    void loseDisk() {
        kill(false);
        memory = null;
        checkpoints = noCheckpoints();
        identity = 0;
        simulation.trace().tell("server " + name() + " loses its data");
        simulation.eventCounters().count("disks lost");
    }

    /** The simulation is over. */
    void leave() {
        final SimProcess last = process;
        if (last != null) {
            last.nic().end();
        }
    }

    /** The memory of its area; null before it was created. */
    @Nullable
    SimMemory memory() {
        return memory;
    }

    /** It has ended by itself. */
    void exited(SimProcess ended) {
        if (process == ended) {
            process = null;
            final SimMemory area = memory;
            if (area != null) {
                area.crash(); // it stores nothing any more, even if its code is still stopped somewhere
                checkpoints.crash();
            }
            ended.died(false);
        }
    }

    /** Whether one of its processes has served. */
    boolean hasServed() {
        return hasServed;
    }

    void serves() {
        hasServed = true;
    }

    private static SimCheckpoints noCheckpoints() {
        return new SimCheckpoints(() -> {});
    }

    /** Its checkpoints, as the present process sees them. */
    CheckpointStore checkpoints() {
        final SimMemory area = memory;
        return checkpoints.ofProcess(area != null && area.hasDevice() ? area.device() : null);
    }

    /** Its data, for one process at a time. */
    DataDirectory home() {
        if (identity == 0) {
            identity = random.nextLong() | 1;
        }
        return new Home();
    }

    private final class Home implements DataDirectory {
        private final Path path = Path.of("/" + name());

        @Override
        public Path path() {
            return path;
        }

        @Override
        public long identity() {
            return identity;
        }

        @Override
        public Path areaFile(int server) {
            return path.resolve("area-" + server);
        }

        @Override
        public boolean hasArea(int server) {
            return memory != null && server == number;
        }

        @Override
        public Area openArea(AreaSettings settings, OpenOverrides consent) {
            final SimMemory area = memory;
            if (area == null) {
                throw new AssertionError("there is no area");
            }
            return Area.open(settings, area.present(), consent);
        }

        @Override
        public Area createArea(AreaSettings settings, RandomSource drawn) {
            final SimMemory area = pool.take(settings);
            final Area created = Area.create(settings, area.present(), drawn);
            memory = area;
            return created;
        }

        @Override
        public void close() {
            // No other process competes for it.
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
