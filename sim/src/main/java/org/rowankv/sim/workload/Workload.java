package org.rowankv.sim.workload;

import java.util.HashMap;
import java.util.Map;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.runtime.RandomSource;

/** Shared state of all clients of one run: caches, observations, and checkers. Owned by the simulation's thread. */
public final class Workload {
    private record Place(int history, long version) {}

    private final WorkloadPlan plan;
    private final WorkloadHost host;
    private final SimValues values;
    private final HistoryRecorder history;
    private final int clients;
    private final WorkloadCaches caches;
    private final LifetimeChecker lifetimes = new LifetimeChecker();
    private final Coverage coverage = new Coverage();
    private final Counts counts;
    private final VersionUniqueness versions;
    private final Map<Place, Long> valueOf = new HashMap<>();

    public Workload(WorkloadPlan plan, int clients, SimValues values, WorkloadHost host) {
        this.plan = plan;
        this.clients = clients;
        this.values = values;
        this.host = host;
        this.history = new HistoryRecorder(clients + 3, 0);
        this.caches = new WorkloadCaches(plan, host, history);
        this.counts = new Counts(host);
        this.versions = new VersionUniqueness(host);
    }

    public WorkloadClient client(int number, RandomSource random, WorkloadBias inclination) {
        return new WorkloadClient(number, this, history.log(number), random, inclination);
    }

    /** Log of change-stream events on the first cache's keys. */
    public CallerLog streamLog() {
        return history.log(clients + 1);
    }

    /** Log of one more caller, which uses the first cache's keys by itself. */
    public CallerLog waitingLog() {
        return history.log(clients + 2);
    }

    /** Checker of every key's value while all clients pause. */
    public WindowChecker windowChecker() {
        return new WindowChecker(this, history, history.log(clients));
    }

    public WorkloadCaches caches() {
        return caches;
    }

    public LifetimeChecker lifetimes() {
        return lifetimes;
    }

    public Coverage coverage() {
        return coverage;
    }

    public WorkloadPlan plan() {
        return plan;
    }

    WorkloadHost host() {
        return host;
    }

    SimValues values() {
        return values;
    }

    Counts counts() {
        return counts;
    }

    VersionUniqueness versions() {
        return versions;
    }

    /** A reply contained a value and its version. */
    void isOf(int key, long version, long value) {
        valueOf.put(new Place(key, version), value);
    }

    /** The value of a version of a key, or {@link Event#ABSENT} if no reply has contained it. */
    long valueOf(int key, long version) {
        return version == 0 ? Event.ABSENT : valueOf.getOrDefault(new Place(key, version), Event.ABSENT);
    }
}
