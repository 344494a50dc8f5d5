package org.rowankv.sim.embedded;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.LossError;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.SeedRun;
import org.rowankv.sim.SeedWorkloadHost;
import org.rowankv.sim.SimClient;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.SimThread;
import org.rowankv.sim.Trace;
import org.rowankv.sim.ViolationError;
import org.rowankv.sim.device.DeviceFailedException;
import org.rowankv.sim.workload.SimValues;
import org.rowankv.sim.workload.Workload;
import org.rowankv.topology.Configuration;

/**
 * The simulation of one store, all of whose decisions follow from a seed. The scheduler picks the next task; a task
 * that reaches a named point may have to stop there while others run, nested inside that point. So of two stopped
 * tasks, the one that stopped later continues earlier. Interleavings in which they cross are out of reach here, and
 * left to model checking.
 *
 * <p>Owned by one {@link SimThread}.
 */
final class EmbeddedSimulation extends SeedRun {
    private static final int WINDOW = 400;
    private static final int MOST_ROUNDS = 10_000;

    private final EmbeddedPlan storePlan;
    private final SimMemories memories;
    private final RandomSource outages;
    private final SimSession session = new SimSession(this);
    private final StoreNetwork network;
    private final RandomSource clientRandom;
    private final SimValues values;
    private final Workload workload;
    private final SimStore store;
    private final TaskScheduler scheduler;
    private final EmbeddedPoints points;
    private final ClientBias bias;
    private final StoreChecker checker;
    private final Services services;
    private final Victim victim;
    private final Stops stops;
    private final StoreFaults faults;

    private boolean checksHonest;

    EmbeddedSimulation(EmbeddedPlan storePlan, SimMemories memories, @Nullable Consumer<String> reader) {
        super(storePlan.shared(), reader);
        final SimPlan plan = storePlan.shared();
        this.storePlan = storePlan;
        this.memories = memories;
        final RandomSource random = new SplittableRandomSource(plan.seed());
        if (storePlan.hostile()) {
            eventCounters().count("stores with hostile settings");
        }
        this.scheduler = new TaskScheduler(this, random.fork("turns"));
        this.points = new EmbeddedPoints(this, random.fork("points"));
        this.bias = new ClientBias(this);
        this.outages = random.fork("outages");
        final RandomSource stores = random.fork("stores");
        this.network = new StoreNetwork(this, random.fork("network"));
        this.store = new SimStore(this, memories, stores, random.fork("clocks"));
        this.values = plan.values();
        this.workload =
                new Workload(storePlan.workload(), plan.clients(), values, new SeedWorkloadHost(this, Status.CLOSED));
        this.checker = new StoreChecker(this, values);
        this.victim = new Victim(this, random.fork("victim"));
        this.stops = new Stops(this, random.fork("stops"));
        this.faults = new StoreFaults(this);
        this.clientRandom = random.fork("clients");
        this.services = new Services(this, random.fork("services"), workload.streamLog(), workload.waitingLog());
    }

    /** Runs to the end or to the first violation. */
    SeedReport run() {
        SimThread.current().tells(points::onPoint);
        try {
            memories.begin();
            open();
            calm(true);
            checker.fill(new RowanClient(session, store.clientClock(), clientRandom.fork("ballast")));
            calm(false);
            for (int i = 0; i < plan().clients(); i++) {
                add(client(i, clientRandom.fork("client " + i)));
            }
            services.begin();
            accept(true);
            while (!isBegun()) {
                applyFaults();
                step();
                if (bias.isOver()) {
                    restAndCheck();
                    checkReplicas();
                } else if (begunInWindow() >= WINDOW) {
                    restAndCheck();
                }
            }
            restAndCheck();
            finish();
        } catch (ViolationError e) {
            note(String.valueOf(e.getMessage()));
        } catch (LossError e) {
            eventCounters()
                    .count(
                            victim.isLone()
                                    ? "lone servers that lost what they had"
                                    : "stores that believed a device which had lied");
            trace().tell(String.valueOf(e.getMessage()));
        } catch (CrashError e) {
            note("the process ended where it must not: " + Trace.describe(e));
        } catch (RuntimeException | Error e) {
            note("the store failed: " + Trace.describe(e));
        } finally {
            SimThread.current().tells(null);
        }
        eventCounters().add("changes of a full disk refused", memories.refused());
        return report();
    }

    private SimClient client(int number, RandomSource random) {
        final StoreExchange exchange = new StoreExchange(this, random);
        return new SimClient(
                number,
                this,
                exchange,
                random.fork("questions"),
                bias,
                before -> new RowanClient(
                        session,
                        store.clientClock(),
                        random.fork("client " + before),
                        20 * exchange.attemptNs(),
                        storePlan.counters()),
                () -> random.nextInt((int) (8 * plan().stepNs())));
    }

    /** If a server without replicas is the cause, that ends the run. */
    @Override
    public void loss(boolean isWrong, String what) {
        if (!isWrong && victim.excuses() && !checksHonest) {
            endWithLoss(what);
        }
        violation(what);
    }

    @Override
    public void requireRotten(String what) {
        victim.requireRotten(what);
    }

    @Override
    public void checkOn() {
        super.checkOn();
        if (store.isCrashed()) {
            throw new CrashError();
        }
    }

    /** One step at the bottom of the stack, with the recovery from a crash in it. */
    private void step() {
        try {
            scheduler.step();
        } catch (CrashError e) {
            // Handled below: the error may also have been swallowed on its way.
        }
        recover();
    }

    /** Recovers from a crash, or from a device that has made the store stop itself. */
    private void recover() {
        boolean restarted = false;
        if (stops.isStopped() && !store.isCrashed()) {
            endStopped();
        }
        while (store.takeCrash()) {
            restarted = true;
            eventCounters().count("crashes");
            timeline().advance(outages.nextInt(50_000_000));
            try {
                open();
            } catch (CrashError e) {
                // Handled above: the error may also have been swallowed on its way.
            }
        }
        if (restarted && victim.hasLost()) {
            endAfterLie();
        }
        if (restarted) {
            restAndCheck();
            bias.end();
        }
    }

    /** The store cannot detect that a device has lied. The content of the honest devices must be complete. */
    private void endAfterLie() {
        if (!victim.isLone()) {
            calm(true);
            accept(false);
            store.cutClientsOff();
            store.cluster().awaitDigested();
            clients().forEach(SimClient::giveUp);
            checksHonest = true;
            checker.checkHonest();
        }
        throw new LossError("a device had reported forces which it had not done");
    }

    private void endStopped() {
        try {
            stops.linger();
            store.closeStopped();
        } catch (CrashError e) {
            // Handled below, as above.
        }
    }

    /** The process ends some points from now, or is closed at once. */
    void endSoon(int points) {
        if (points % 2 == 0) {
            reopen();
        } else {
            this.points.crashIn(points);
        }
    }

    private void applyFaults() {
        for (PlannedFault fault = takeFault(); fault != null; fault = takeFault()) {
            trace().mix(fault.afterOperations());
            try {
                faults.strike(fault);
            } catch (CrashError e) {
                // Handled below, as above.
            }
            recover();
        }
    }

    private void open() {
        calm(true);
        boolean opened = false;
        while (!opened) {
            points.onStart();
            try {
                store.open();
                opened = true;
            } catch (RuntimeException e) {
                onRefusedStart(e);
            }
        }
        calm(false);
        scheduler.onProgress();
    }

    /** A device fails during the start of the store, or no replica is left to start from. */
    private void onRefusedStart(RuntimeException why) {
        if (victim.excuses() && why instanceof StoreOpenException) {
            eventCounters().count("stores refused for want of a whole replica");
            throw new LossError(String.valueOf(why.getMessage()));
        }
        if (!DeviceFailedException.isCauseOf(why)) {
            throw why;
        }
        eventCounters()
                .count("starts refused over a device, by " + why.getClass().getSimpleName());
        eventCounters().count("starts refused over a device");
        trace().tell("the start is refused: " + why.getMessage());
        store.failedStart();
    }

    /** Closes the store and opens it again. A crash may intervene. */
    void reopen() {
        store.close();
        eventCounters().count("clean restarts");
        open();
        restAndCheck();
        bias.end();
    }

    /** Pauses all tasks; then runs the checkers. */
    private void restAndCheck() {
        beginWindow();
        final boolean accepted = accept(false);
        while (!scheduler.isQuiet()) {
            step();
        }
        scheduler.onProgress();
        checked(() -> {
            store.awaitTransferred();
            completeAbandoned();
            store.cluster().awaitDigested();
            services.rest();
            workload.caches().finishDestroying(store.cluster().session().catalogue());
            checker.checkWindow();
            workload.caches().createMissing(store.cluster().session().catalogue());
        });
        accept(accepted);
    }

    /**
     * After all tasks have paused: every replica is complete when it is checked. No client sends requests meanwhile.
     */
    private void checkReplicas() {
        final boolean accepted = accept(false);
        checked(() -> {
            store.awaitJoined();
            checker.checkWindow();
        });
        accept(accepted);
        bias.end();
    }

    /** The store may stop itself meanwhile. */
    private void checked(Runnable check) {
        calm(true);
        try {
            check.run();
        } catch (RowanException | NotServedException e) {
            stops.onRefusal(e);
            calm(false);
            recover(); // and pauses
        }
        calm(false);
    }

    /** The abandoned requests of dead callers may wait for agents: for a force, or for a posted segment. */
    private void completeAbandoned() {
        for (int round = 0; !store.cluster().releaseGrants(); round++) {
            if (round == MOST_ROUNDS) {
                violation("a mutation whose caller died is not finished when all others are");
            }
            stops.requireServing();
            scheduler.park(50_000);
        }
    }

    private void finish() {
        accept(false);
        points.crashStarts(0);
        memories.spare();
        while (!isFinished()) {
            recover();
        }
    }

    /** False if the store stops itself meanwhile. */
    private boolean isFinished() {
        try {
            checkToTheEnd();
            return true;
        } catch (RowanException | NotServedException e) {
            stops.onRefusal(e);
            calm(false);
            return false;
        }
    }

    private void checkToTheEnd() {
        calm(true);
        store.awaitJoined();
        checker.checkWindow();
        checker.checkSpace();
        store.close();
        open();
        calm(true);
        store.awaitJoined();
        checker.checkWindow();
        checker.checkSpace();
        store.close();
    }

    /** Runs an action that reaches no points of this simulation. */
    void undisturbed(Runnable action) {
        SimThread.current().tells(null);
        try {
            action.run();
        } finally {
            SimThread.current().tells(points::onPoint);
        }
    }

    void onAnswered(Request request, boolean isCopy) {
        services.answered(request);
        noteAnswer(request);
        if (request.status() == Status.FULL && endsSomething(request)) {
            violation(request.operation() + " was refused for want of space");
        }
        if (isCopy) {
            eventCounters().count("copy answered " + request.status());
        }
    }

    /** A full store can be emptied: operations that remove something need no contended space. */
    private static boolean endsSomething(Request request) {
        return switch (request.operation()) {
            case DELETE, CLEAR, CLOSE_SESSION -> true;
            default -> false;
        };
    }

    SimMemories memories() {
        return memories;
    }

    Victim victim() {
        return victim;
    }

    Stops stops() {
        return stops;
    }

    /** The plan of a store. */
    EmbeddedPlan storePlan() {
        return storePlan;
    }

    @Override
    public Configuration configuration() {
        return store.cluster().configuration();
    }

    @Override
    public Workload workload() {
        return workload;
    }

    SimSession session() {
        return session;
    }

    @Override
    public Services services() {
        return services;
    }

    StoreNetwork network() {
        return network;
    }

    SimStore store() {
        return store;
    }

    @Override
    public TaskScheduler scheduler() {
        return scheduler;
    }

    ClientBias bias() {
        return bias;
    }

    EmbeddedPoints points() {
        return points;
    }
}
