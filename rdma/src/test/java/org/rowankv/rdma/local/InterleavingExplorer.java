package org.rowankv.rdma.local;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ChaosHandler;

/**
 * Runs the real code of a few threads under every schedule, as fine as its chaos points, with a bounded number of
 * preemptions. Only one thread runs at a time; at each point the explorer decides who goes on. A schedule is a list of
 * choices; the next one differs from the last in its last choice that has an alternative left.
 *
 * <p>It sees every order of the steps between points, with the memory of a single processor; orders of memory
 * accesses that a real machine shows beyond that are for the stress test. Threads must not wait for one another.
 */
final class InterleavingExplorer implements ChaosHandler, AutoCloseable {
    /** What is run under each schedule, made anew for each. */
    interface Scenario {
        List<Runnable> threads();

        /** Called when all threads have ended; throws if something is wrong. */
        void check();
    }

    /** Makes scenarios. */
    interface Maker {
        Scenario make();
    }

    private static final class Decision {
        final List<Integer> enabled;
        final boolean preempts;
        int chosen;

        Decision(List<Integer> enabled, boolean preempts) {
            this.enabled = enabled;
            this.preempts = preempts;
        }

        int cost() {
            return preempts && chosen > 0 ? 1 : 0;
        }
    }

    private static final int NOBODY = -1;

    private final int maxPreemptions;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Condition> turns = new ArrayList<>();
    private final Condition over = lock.newCondition();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Decision> decisions = new ArrayList<>();
    private boolean[] ended = {};
    private int current = NOBODY;
    private int step;
    private boolean closing;
    private Throwable failure;

    InterleavingExplorer(int maxPreemptions) {
        this.maxPreemptions = maxPreemptions;
        Chaos.install(this);
    }

    /** Explores everything; returns how many schedules there were. */
    int explore(Maker maker) {
        int schedules = 0;
        do {
            final Scenario scenario = maker.make();
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

    /** Goes back to the last decision that has an alternative within the bound. */
    private boolean nextSchedule() {
        while (!decisions.isEmpty()) {
            final Decision last = decisions.get(decisions.size() - 1);
            last.chosen++;
            if (last.chosen < last.enabled.size() && preemptions() <= maxPreemptions) {
                return true;
            }
            decisions.remove(decisions.size() - 1);
        }
        return false;
    }

    private int preemptions() {
        return decisions.stream().mapToInt(Decision::cost).sum();
    }

    private void run(List<Runnable> threads) {
        lock.lock();
        try {
            while (workers.size() < threads.size()) {
                turns.add(lock.newCondition());
                final Worker worker = new Worker(workers.size());
                workers.add(worker);
                worker.start();
            }
            for (int i = 0; i < threads.size(); i++) {
                workers.get(i).task = threads.get(i);
            }
            ended = new boolean[threads.size()];
            step = 0;
            failure = null;
            current = NOBODY;
            handOver(decide());
            awaitUntil(() -> current == NOBODY, over);
            if (failure != null) {
                throw new AssertionError("a thread failed, choices " + choices(), failure);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onPoint(String name) {
        if (Thread.currentThread() instanceof Worker worker) {
            lock.lock();
            try {
                final int next = decide();
                if (next != worker.index) {
                    handOver(next);
                    worker.awaitTurn();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Who goes on: as the schedule says, or, beyond its end, whoever is running. */
    private int decide() {
        if (step == decisions.size()) {
            final List<Integer> enabled = new ArrayList<>();
            final boolean running = current != NOBODY && !ended[current];
            if (running) {
                enabled.add(current);
            }
            for (int i = 0; i < ended.length; i++) {
                if (!ended[i] && i != current) {
                    enabled.add(i);
                }
            }
            if (enabled.isEmpty()) {
                return NOBODY;
            }
            decisions.add(new Decision(enabled, running));
        }
        final Decision decision = decisions.get(step++);
        return decision.enabled.get(decision.chosen);
    }

    private void handOver(int next) {
        current = next;
        if (next == NOBODY) {
            over.signal();
        } else {
            turns.get(next).signal();
        }
    }

    private void awaitUntil(BooleanSupplier done, Condition condition) {
        long patienceNs = TimeUnit.SECONDS.toNanos(60);
        while (!done.getAsBoolean()) {
            if (patienceNs <= 0) {
                throw new AssertionError("a scheduled thread waits for another one, choices " + choices());
            }
            try {
                patienceNs = condition.awaitNanos(patienceNs);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() {
        Chaos.reset();
        lock.lock();
        try {
            closing = true;
            turns.forEach(Condition::signal);
        } finally {
            lock.unlock();
        }
    }

    private final class Worker extends Thread {
        private final int index;
        private Runnable task = () -> {};

        Worker(int index) {
            super("explored " + index);
            this.index = index;
            setDaemon(true);
        }

        void awaitTurn() {
            awaitUntil(() -> current == index || closing, turns.get(index));
        }

        @Override
        public void run() {
            lock.lock();
            try {
                while (true) {
                    awaitTurn();
                    if (closing) {
                        return;
                    }
                    lock.unlock();
                    try {
                        task.run();
                    } catch (RuntimeException | Error e) {
                        failure = e;
                    } finally {
                        lock.lock();
                    }
                    ended[index] = true;
                    handOver(decide());
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
