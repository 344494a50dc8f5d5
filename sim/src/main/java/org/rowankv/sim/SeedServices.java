package org.rowankv.sim;

import java.util.LinkedHashMap;
import java.util.Map;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.service.Scene;
import org.rowankv.sim.service.Service;
import org.rowankv.sim.service.StreamServers;
import org.rowankv.sim.service.Subscriber;

/** The activities of a run beside its clients. */
public abstract class SeedServices implements Scene {
    private final SeedRun run;
    private final Map<Service, ServiceTask> all = new LinkedHashMap<>();

    protected SeedServices(SeedRun run) {
        this.run = run;
    }

    protected final void add(Service service) {
        all.put(service, new ServiceTask(run, service));
    }

    protected final void addSubscriber(StreamServers servers, RandomSource random, CallerLog log) {
        add(new Subscriber(
                this,
                servers,
                random,
                log,
                run.workload().plan().hidesEnds(),
                run.plan().stepNs()));
    }

    /** All servers serve for the first time. */
    public void begin() {
        all.values().forEach(run.scheduler()::add);
    }

    /** A server starts to execute an attempt. */
    public final void arrived(Request request) {
        for (Service service : all.keySet()) {
            service.arrived(request);
        }
    }

    /** A server has replied to it. */
    public final void answered(Request request) {
        for (Service service : all.keySet()) {
            service.answered(request);
        }
    }

    /** The bottommost waiting task has been parked once more. */
    public final void paused() {
        for (Service service : all.keySet()) {
            service.paused();
        }
    }

    /** The clients pause. */
    public final void rest() {
        all.keySet().forEach(Service::rest);
    }

    /** Then: the value of a key. */
    public final void read(int key, Event read) {
        for (Service service : all.keySet()) {
            service.read(key, read);
        }
    }

    /** After the last of these reads. */
    public final void afterReads() {
        all.keySet().forEach(Service::afterReads);
    }

    // --- callbacks to the simulation ---

    @Override
    public final long nowNs() {
        return run.timeline().nowNs();
    }

    @Override
    public final void violation(String what) {
        run.loss(false, what); // without another replica damage may revert received changes
    }

    @Override
    public final void requireDamage(String what) {
        run.requireRotten(what);
    }

    @Override
    public final void count(String what, long times) {
        run.eventCounters().add(what, times);
    }

    @Override
    public final void mix(long value) {
        run.trace().mix(value);
    }

    @Override
    public final boolean isRead() {
        return run.trace().isRead();
    }

    @Override
    public final void tell(String words) {
        run.trace().tell(words);
    }

    @Override
    public final void changed(Service service) {
        final ServiceTask task = all.get(service);
        if (task != null) {
            run.scheduler().changed(task);
        }
    }

    @Override
    public final void park(long ns) {
        run.scheduler().park(ns);
    }
}
