package org.rowankv.sim.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Machine;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.sim.service.BlockingCaller;
import org.rowankv.sim.service.LiveCopies;
import org.rowankv.sim.service.Service;
import org.rowankv.sim.service.SessionLeases;
import org.rowankv.sim.service.StoreScene;
import org.rowankv.sim.service.Subscriber;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.SimValues;

/** The activities of a simulated store beside the clients. */
final class Services implements StoreScene {
    private static final int WITHOUT_STREAM_ONE_IN = 8;
    private static final int COPIES_ONE_IN = 4;

    private final Simulation simulation;
    private final RandomSource choice;
    private final SimValues values;
    private int copies;
    private final List<Service> all = new ArrayList<>();

    /**
     * Draws them.
     *
     * @param log receives the changes of subscribers and the contents of copies
     * @param waiting log of the blocking caller
     */
    Services(Simulation simulation, RandomSource random, CallerLog log, CallerLog waiting) {
        this.simulation = simulation;
        this.choice = random.fork("choice");
        this.values =
                new SimValues(simulation.plan().smallValue(), simulation.plan().largeValue());
        final RandomSource streams = random.fork("streams");
        final SimPlan plan = simulation.plan();
        if (streams.nextInt(WITHOUT_STREAM_ONE_IN) > 0) {
            final boolean hidden = plan.workload().hidesEnds();
            all.add(new Subscriber(this, new StoreStreams(simulation), streams, log, hidden, plan.stepNs()));
        }
        if (plan.leaseNs() > 0) {
            all.add(new SessionLeases(this, random.fork("leases"), plan.leaseNs()));
        }
        final RandomSource callers = random.fork("callers");
        if (plan.deadlineMs() > 0) {
            all.add(new BlockingCaller(this, callers, waiting, plan.deadlineMs() * 1_000_000, plan.stepNs()));
        }
        final RandomSource reading = random.fork("copies");
        if (reading.nextInt(COPIES_ONE_IN) == 0) {
            all.add(new LiveCopies(this, reading, log, plan.stepNs()));
        }
    }

    /** Called once the store is open. */
    void begin() {
        all.forEach(service -> simulation
                .scheduler()
                .add(new ServiceTask(
                        service, () -> simulation.eventCounters().count("callers' threads that waited died"))));
    }

    void arrived(Request request) {
        for (Service service : all) {
            service.arrived(request);
        }
    }

    void answered(Request request) {
        for (Service service : all) {
            service.answered(request);
        }
    }

    /** The bottommost waiting task has been parked once more. */
    void paused() {
        for (Service service : all) {
            service.paused();
        }
    }

    /** The clients pause. */
    void rest() {
        all.forEach(Service::rest);
    }

    void read(int key, Event read) {
        for (Service service : all) {
            service.read(key, read);
        }
    }

    void afterReads() {
        all.forEach(Service::afterReads);
    }

    // --- callbacks to the simulation ---

    @Override
    public long nowNs() {
        return simulation.timeline().nowNs();
    }

    @Override
    public void violation(String what) {
        simulation.loss(what);
    }

    @Override
    public void count(String what, long times) {
        simulation.eventCounters().add(what, times);
    }

    @Override
    public void mix(long value) {
        simulation.trace().mix(value);
    }

    @Override
    public boolean isRead() {
        return simulation.trace().isRead();
    }

    @Override
    public void tell(String words) {
        simulation.trace().tell(words);
    }

    @Override
    public void changed(Service service) {
        // All services are polled before every step.
    }

    @Override
    public boolean isUp() {
        return simulation.store().isUp();
    }

    @Override
    public EmbeddedCluster cluster() {
        return simulation.store().cluster();
    }

    @Override
    public int cacheId() {
        return simulation.workload().caches().first().id();
    }

    @Override
    public int keys() {
        return simulation.workload().caches().first().keys();
    }

    @Override
    public byte[] key(int number) {
        return CacheLife.keyBytes(number);
    }

    @Override
    public long valueOf(byte[] bytes, int length) {
        return values.idIn(bytes, length);
    }

    @Override
    public EmbeddedCluster openCopy(Path directory) {
        return EmbeddedCluster.open(
                simulation.plan().settingsOfCopy(directory),
                new EmbeddedContext(
                        simulation.store()::clock,
                        choice.fork("copy " + copies++),
                        new CopyScheduling(simulation.timeline()),
                        UnaryOperator.identity(),
                        null,
                        Machine.PRESENT,
                        usual -> {},
                        1,
                        false));
    }

    @Override
    public void undisturbed(Runnable action) {
        simulation.undisturbed(action);
    }

    @Override
    public byte[] value(long id) {
        return values.of(id);
    }

    @Override
    public boolean mayAsk() {
        return simulation.isAccepting() && simulation.bias().isUsual();
    }

    @Override
    public void begun(int key, long value) {
        simulation.workload().lifetimes().begins(key, value);
        if (!simulation.workload().caches().first().limit().isNone()) {
            simulation.workload().lifetimes().evictable(key, value, nowNs());
        }
    }

    @Override
    public void requireServing() {
        simulation.stops().requireServing();
    }

    @Override
    public void requireDamage(String what) {
        simulation.victim().requireRotten(what);
    }

    @Override
    public void call(Request request) {
        simulation.store().place(request);
        simulation.session().call(request);
    }

    @Override
    public Request copyOf(Request request) {
        return SimNetwork.copyOf(request);
    }

    @Override
    public void deliver(Request request) {
        simulation.scheduler().add(new Delivery(simulation, request, null, 0, nowNs(), false, true));
    }

    @Override
    public boolean vanish() {
        final List<SimClient> clients = simulation.scheduler().clients();
        final SimClient client = clients.get(choice.nextInt(clients.size()));
        if (!client.isIdle() || !simulation.isAccepting()) {
            return false;
        }
        client.vanish();
        return true;
    }

    @Override
    public void park(long ns) {
        simulation.scheduler().park(ns);
    }
}
