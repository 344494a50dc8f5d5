package org.rowankv.runtime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.concurrent.Parker;

/**
 * A model checker that runs the real code of a few threads under every schedule. Its granularity is the chaos points;
 * the number of preemptions is bounded. Only one thread runs at a time; at each point the explorer picks the one to
 * run. A schedule is a list of choices; the next one differs from the last in its last choice that has an alternative
 * left.
 *
 * <p>Threads park and unpark through the explorer, with permits as in {@code LockSupport}. A parked thread is not
 * picked; if only parked threads are left, a wake-up was lost. In all other ways they must not wait for one another.
 *
 * <p>It covers every order of the steps between points, under sequential consistency. Weaker memory orders of real
 * machines are left to stress tests.
 *
 * <p>Its state has no lock: it belongs to the running thread, and {@code current} hands it over.
 */
public final class ScheduleExplorer implements ChaosHandler, Parker, AutoCloseable {
    /** The code run under each schedule, created anew for each. */
    public interface Scenario {
        List<Runnable> threads();

        /** Whether a parked thread may time out: then it may be picked all the same. */
        default boolean mayTimeOut(int thread) {
            return false;
        }

        /** Called when all threads have ended; throws if the result is wrong. */
        void check();
    }

    /** Factory of scenarios. */
    public interface Maker {
        Scenario make();
    }

    private static final class Choice {
        final List<Integer> enabled;
        final boolean preempts;
        int chosen;

        Choice(List<Integer> enabled, boolean preempts) {
            this.enabled = enabled;
            this.preempts = preempts;
        }

        int cost() {
            return preempts && chosen > 0 ? 1 : 0;
        }
    }

    /** Turn of the exploring thread: all threads of the scenario have ended or are parked. */
    private static final int NONE = -1;

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final int maxPreemptions;
    private final Thread explorer = Thread.currentThread();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Choice> decisions = new ArrayList<>();
    private Scenario scenario;
    private boolean[] ended = {};
    private boolean[] parked = {};
    private boolean[] permits = {};
    /** Per thread: whether it is parked with a timeout. */
    private boolean[] timed = {};

    private int step;
    private Throwable failure;
    private volatile int current = NONE;
    private volatile boolean closing;

    /** The creating thread must use and close it. */
    public ScheduleExplorer(int maxPreemptions) {
        this.maxPreemptions = maxPreemptions;
        Chaos.install(this);
    }

    /** Explores all schedules; returns their number. */
    public int explore(Maker maker) {
        int schedules = 0;
        decisions.clear();
        do {
            scenario = maker.make();
            run(scenario.threads());
            schedules++;
            try {
                scenario.check();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("schedule " + schedules + ", choices " + choices(), e);
            }
        } while (nextSchedule());
        return schedules;
    }

    private String choices() {
        final StringBuilder text = new StringBuilder();
        decisions.forEach(each -> text.append(each.enabled.get(each.chosen)));
        return text.toString();
    }

    /** Backtracks to the last decision that has an alternative within the bound. */
    private boolean nextSchedule() {
        while (!decisions.isEmpty()) {
            final Choice last = decisions.get(decisions.size() - 1);
            last.chosen++;
            if (last.chosen < last.enabled.size() && preemptions() <= maxPreemptions) {
                return true;
            }
            decisions.remove(decisions.size() - 1);
        }
        return false;
    }

    private int preemptions() {
        int sum = 0;
        for (Choice each : decisions) {
            sum += each.cost();
        }
        return sum;
    }

    private void run(List<Runnable> threads) {
        while (workers.size() < threads.size()) {
            final Worker worker = new Worker(workers.size());
            workers.add(worker);
            worker.start();
        }
        for (int i = 0; i < threads.size(); i++) {
            workers.get(i).task = threads.get(i);
        }
        ended = new boolean[threads.size()];
        parked = new boolean[threads.size()];
        permits = new boolean[threads.size()];
        timed = new boolean[threads.size()];
        step = 0;
        failure = null;
        handOver(decide());
        awaitPermit(NONE);
        if (failure != null) {
            throw new AssertionError("a thread failed, choices " + choices(), failure);
        }
        for (int i = 0; i < ended.length; i++) {
            if (!ended[i]) {
                throw new AssertionError("thread " + i + " is parked for ever, choices " + choices());
            }
        }
    }

    @Override
    public void onPoint(String name) {
        if (Thread.currentThread() instanceof Worker worker) {
            goOn(worker);
        }
    }

    @Override
    public void park(long ns) {
        park(true);
    }

    @Override
    public void park() {
        park(false);
    }

    private void park(boolean isTimed) {
        if (Thread.currentThread() instanceof Worker worker) {
            parked[worker.index] = !permits[worker.index];
            timed[worker.index] = isTimed;
            goOn(worker);
            parked[worker.index] = false;
            permits[worker.index] = false;
        }
    }

    @Override
    public void unpark(Thread thread) {
        if (thread instanceof Worker worker) {
            permits[worker.index] = true;
            parked[worker.index] = false;
        }
    }

    private void goOn(Worker worker) {
        if (closing) {
            throw new IllegalStateException("the exploration is over");
        }
        final int next = decide();
        if (next != worker.index) {
            handOver(next);
            awaitPermit(worker.index);
        }
    }

    private boolean isEnabled(int thread) {
        return !ended[thread] && (!parked[thread] || timed[thread] && scenario.mayTimeOut(thread));
    }

    /** Picks the thread to run: by the schedule, or, past its end, the running one. */
    private int decide() {
        if (step == decisions.size()) {
            final List<Integer> enabled = new ArrayList<>();
            final boolean running = current != NONE && isEnabled(current);
            if (running) {
                enabled.add(current);
            }
            for (int i = 0; i < ended.length; i++) {
                if (i != current && isEnabled(i)) {
                    enabled.add(i);
                }
            }
            if (enabled.isEmpty()) {
                return NONE;
            }
            decisions.add(new Choice(enabled, running));
        }
        final Choice decision = decisions.get(step++);
        return decision.enabled.get(decision.chosen);
    }

    private void handOver(int next) {
        final Thread to = next == NONE ? explorer : workers.get(next);
        current = next;
        LockSupport.unpark(to);
    }

    /** Called by the thread with that index. */
    private void awaitPermit(int index) {
        final long begun = System.nanoTime();
        while (current != index) {
            if (closing) {
                throw new IllegalStateException("the exploration is over");
            }
            if (System.nanoTime() - begun > PATIENCE_NS) {
                throw new AssertionError("a scheduled thread waits for another one");
            }
            LockSupport.parkNanos(this, PATIENCE_NS);
        }
    }

    @Override
    public void close() {
        Chaos.reset();
        closing = true;
        workers.forEach(LockSupport::unpark);
    }

    private final class Worker extends Thread {
        private final int index;
        private Runnable task = () -> {};

        Worker(int index) {
            super("explored " + index);
            this.index = index;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (true) {
                while (current != index && !closing) {
                    LockSupport.park(ScheduleExplorer.this);
                }
                if (closing) {
                    return;
                }
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    failure = e;
                }
                if (closing) {
                    return;
                }
                ended[index] = true;
                handOver(decide());
            }
        }
    }
}
