package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.CallerDeath;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.SeedPoints;
import org.rowankv.sim.Task;

/** Actions at the named points that production code reaches: other tasks run there, callers die, the process ends. */
final class EmbeddedPoints extends SeedPoints {
    /**
     * Points of waiters for a session slot: simulated clients have enough slots, and do not stop in the middle of a
     * step.
     */
    private static final String OF_CLIENTS = "line.";

    private static final String PUBLISHED = "local.after-publish";

    /** Steps in which a small store reuses every segment. */
    private static final int A_REUSE = 1 << 18;

    /**
     * Steps without a completed operation, after which clients would have given up waiting and issued another request.
     */
    private static final int HOPELESS = 1 << 14;

    /** Of the entries copied to joining replicas, one in this many finds its connection broken. */
    private static final int ONE_IN = 20;

    private final EmbeddedSimulation simulation;
    private final RandomSource lengths;
    private final RandomSource breaks;
    private final DeviceChecker device;
    /** Each break takes long, and a copy that never ends blocks tasks that wait for space. */
    private int breaksLeft = 3;

    private int crashIn = -1;
    private @Nullable String crashBehind;
    private int crashBehindBy;
    private int startsToCrash;
    private int crashStartIn = -1;
    private int crashCloseIn = -1;
    private @Nullable String cutOffAt;

    EmbeddedPoints(EmbeddedSimulation simulation, RandomSource random) {
        this(simulation, random, random.fork("chance"));
    }

    private EmbeddedPoints(EmbeddedSimulation simulation, RandomSource random, RandomSource chance) {
        super(simulation, chance, chance);
        this.simulation = simulation;
        this.lengths = random.fork("lengths");
        this.breaks = random.fork("breaks");
        this.device = new DeviceChecker(simulation);
    }

    /** The process ends after this many points. */
    void crashIn(int count) {
        crashIn = count;
    }

    /** The process ends this many points after the next time that a point is reached. */
    void crashBehind(String place, int count) {
        crashBehind = place;
        crashBehindBy = count;
    }

    /** Another crash ends each of this many starts after the crash. */
    void crashStarts(int count) {
        startsToCrash = count;
    }

    /** The process ends this many points after the close of the store begins. */
    void crashCloseIn(int count) {
        crashCloseIn = count;
    }

    /** A start begins: decides whether it completes. */
    void onStart() {
        crashCloseIn = -1;
        crashStartIn = startsToCrash > 0 ? lengths.nextInt(1 << lengths.nextInt(9)) : -1;
    }

    /** The next caller that reaches that point of an append is fenced there. */
    void cutOffAt(String place) {
        cutOffAt = place;
    }

    void onPoint(String name) {
        if (name.startsWith(OF_CLIENTS)) {
            return;
        }
        if (simulation.store().isCrashed()) {
            throw new CrashError();
        }
        final Point point = point(name);
        final SimFabric fabric = simulation.store().fabric();
        if (name.equals(PUBLISHED) && fabric != null) {
            fabric.onPublished();
        }
        if (simulation.store().isStarting()) {
            point.reached();
            if (crashStartIn >= 0 && crashStartIn-- == 0) {
                startsToCrash--;
                simulation.store().crash("while starting, at " + name);
            }
            return;
        }
        if (simulation.store().isClosing() && crashCloseIn >= 0 && crashCloseIn-- == 0) {
            simulation.eventCounters().count("crashes during a close");
            simulation.store().crash("while closing, at " + name);
        }
        if (name.equals(OPENED)) {
            simulation.store().primaryMoved();
        }
        final Task here = simulation.scheduler().current();
        if (simulation.isCalm() || here == null) {
            if (simulation.store().isClosing()) {
                point.reached();
            }
            return;
        }
        point.reached();
        device.onPoint(name, here);
        if (name.equals(COMMITTED)) {
            onCommitted(here);
        }
        if (name.equals(crashBehind)) {
            crashBehind = null;
            crashIn = 1 + crashBehindBy;
        }
        if (crashIn >= 0 && crashIn-- == 0) {
            crashIn = -1;
            simulation.store().crash("at " + name);
        }
        if (name.equals("copy.read") && fabric != null && breaksLeft > 0 && breaks.nextInt(ONE_IN) == 0) {
            breaksLeft--;
            simulation.trace().tell(here + " loses its connection during a copy");
            if (breaks.nextInt(2) == 0) {
                simulation.bias().removeAll();
            }
            fabric.breakNext(
                    here,
                    1_000_000L * (15 + breaks.nextInt(100))
                            + 1_000 * simulation.plan().stepNs());
        }
        if (point.isInMonitor || !simulation.scheduler().mayStop()) {
            return;
        }
        if (name.equals(cutOffAt) && fabric != null && here.isCaller()) {
            cutOffAt = null;
            cutOff(name, fabric, fabric.innermost());
            return;
        }
        if (point.isOfAppend && fabric != null && fabric.isSlow()) {
            simulation.eventCounters().count("stops on slow links");
            simulation.scheduler().nest(1 + lengths.nextInt(60));
            return;
        }
        switch (point.draw()) {
            case NOTHING -> {}
            case YIELD -> simulation.scheduler().nest(1 + lengths.nextInt(20));
            case STALL -> stall(name, here);
            case DEATH -> {
                if (here.isCaller()) {
                    simulation.trace().tell(here + " dies at " + name);
                    simulation.eventCounters().count("death at " + name);
                    throw new CallerDeath(name);
                }
            }
        }
    }

    private void onCommitted(Task here) {
        final List<@Nullable Server> servers =
                new ArrayList<>(simulation.store().cluster().servers());
        final int number = simulation.store().scheduling().servers().indexOf(here);
        if (simulation.victim().isRotten()) {
            servers.set(simulation.victim().number(), null);
        }
        onCommitted(
                simulation.store().cluster().servers().get(number),
                simulation.store().cluster().configuration(),
                servers);
    }

    private void stall(String name, Task here) {
        simulation.trace().tell(here + " stalls at " + name);
        simulation.eventCounters().count("stall at " + name);
        simulation.scheduler().nest(longTime());
        simulation.trace().tell(here + " continues at " + name);
    }

    /** Steps: as often below a thousand as above. */
    private int longTime() {
        return lengths.nextInt(1 << 6 + lengths.nextInt(9));
    }

    /** Sometimes long enough for its segment to be used up, freed and reused, if it were not in quarantine. */
    private void sleepCutOff(SimFabric fabric) {
        if (lengths.nextInt(4) == 0) {
            simulation.scheduler().nest(lengths.nextInt(1 << 13 + lengths.nextInt(5)));
            return;
        }
        final Task here = simulation.scheduler().current();
        // Otherwise every client that uses that shard's keys waits for the sleeping sender, and soon all clients do.
        simulation.bias().avoid(here instanceof Delivery delivery ? delivery.shard() : -1);
        simulation.eventCounters().count("senders that slept while segments were used again");
        final long before = fabric.keptBack();
        try {
            // Where no operation completes any more, all wait for the sleeping sender.
            simulation
                    .scheduler()
                    .nest(
                            A_REUSE,
                            () -> fabric.keptBack() > before
                                    || !simulation.isAccepting()
                                    || simulation.scheduler().stepsSinceEnd() > HOPELESS);
        } finally {
            simulation.bias().avoid(-1);
        }
        simulation.scheduler().nest(lengths.nextInt(2_000));
    }

    /**
     * The sent entry has landed, and no reply was sent: others may act on it, and clean what it replaces. Then the
     * process ends, mostly without the sender's own copy.
     */
    private void sleepWithNews(int server) {
        simulation.scheduler().nest(lengths.nextInt(1 << 11 + lengths.nextInt(5)));
        if (lengths.nextInt(4) > 0) {
            if (lengths.nextInt(4) > 0) {
                simulation.store().emptyAtNextStart(server);
            }
            simulation.store().crash("when a fenced sender continues");
        }
    }

    private void cutOff(String name, SimFabric fabric, int @Nullable [] fromTo) {
        if (fromTo != null) {
            simulation.trace().tell("server " + fromTo[1] + " fences server " + fromTo[0] + ", which is at " + name);
            simulation.eventCounters().count("fences");
            simulation.eventCounters().count("stall at " + name);
            fabric.fence(simulation.store().cluster().servers().get(fromTo[1]), fromTo[0]);
            if (name.equals(PUBLISHED)) {
                sleepWithNews(fromTo[0]);
                return;
            }
            sleepCutOff(fabric);
            if (lengths.nextInt(4) == 0) {
                simulation.store().crash("when a fenced sender continues");
            }
        }
    }
}
