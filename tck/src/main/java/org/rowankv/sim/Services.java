package org.rowankv.sim;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.service.Scene;
import org.rowankv.sim.service.Service;
import org.rowankv.sim.service.Subscriber;

/** What goes on in a simulated store beside the clients. */
final class Services implements Scene {
    private static final int WITHOUT_STREAM_ONE_IN = 8;

    private final Simulation simulation;
    private final List<Service> all = new ArrayList<>();

    /** @param log of what subscribers receive */
    Services(Simulation simulation, RandomSource random, CallerLog log) {
        this.simulation = simulation;
        final RandomSource streams = random.fork("streams");
        final SimPlan plan = simulation.plan();
        if (streams.nextInt(WITHOUT_STREAM_ONE_IN) > 0) {
            final boolean hidden = plan.workload().hidesEnds();
            all.add(new Subscriber(this, new StoreStreams(simulation), streams, log, hidden, plan.stepNs()));
        }
    }

    /** Once the store is open. */
    void begin() {
        all.forEach(service -> simulation.turns().add(new ServiceTask(service)));
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

    /** The clients rest. */
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

    // --- what they need of the simulation ---

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
        simulation.happenings().add(what, times);
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
        // Each is asked before every step.
    }

    @Override
    public void park(long ns) {
        simulation.turns().park(ns);
    }
}
