package org.rowankv.driver.session;

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
 * preemptions. Only one thread runs at a time; at each point the explorer decides who goes on. Threads park and wake each
 * other up through the explorer, with permits as the machine's: who is parked is not chosen, and if nobody is left to choose
 * while somebody is parked, a wake-up was lost.
 */
final class ScheduleExplorer implements ChaosHandler, Waiting, AutoCloseable {
    /** What is run under each schedule, made anew for each. */
    interface Scenario {
        List<Runnable> threads();

        /** Whether a parked thread's time may pass: then it may be chosen all the same. */
        boolean mayTimeOut(int thread);

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
    private Scenario scenario;
    private boolean[] ended = {};
    private boolean[] parked = {};
    private boolean[] permits = {};
    /** Those that are parked, by whether it is for a time only. */
    private boolean[] timed = {};

    private int current = NOBODY;
    private int step;
    private boolean closing;
    private Throwable failure;

    ScheduleExplorer(int maxPreemptions) {
        this.maxPreemptions = maxPreemptions;
        Chaos.install(this);
    }

    /** Explores everything; returns how many schedules there were. */
    int explore(Maker maker) {
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

    private boolean nextSchedule() {
        while (!decisions.isEmpty()) {
            final Decision last = decisions.get(decisions.size() - 1);
            last.chosen++;
            if (last.chosen < last.enabled.size()
                    && decisions.stream().mapToInt(Decision::cost).sum() <= maxPreemptions) {
                return true;
            }
            decisions.remove(decisions.size() - 1);
        }
        return false;
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
            parked = new boolean[threads.size()];
            permits = new boolean[threads.size()];
            timed = new boolean[threads.size()];
            step = 0;
            failure = null;
            current = NOBODY;
            handOver(decide());
            awaitUntil(() -> current == NOBODY, over);
            if (failure != null) {
                throw new AssertionError("a thread failed, choices " + choices(), failure);
            }
            for (int i = 0; i < ended.length; i++) {
                if (!ended[i]) {
                    throw new AssertionError("thread " + i + " is parked for ever, choices " + choices());
                }
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
                goOn(worker);
            } finally {
                lock.unlock();
            }
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
            lock.lock();
            try {
                parked[worker.index] = !permits[worker.index];
                timed[worker.index] = isTimed;
                goOn(worker);
                parked[worker.index] = false;
                permits[worker.index] = false;
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void unpark(Thread thread) {
        if (thread instanceof Worker worker) {
            lock.lock();
            try {
                permits[worker.index] = true;
                parked[worker.index] = false;
            } finally {
                lock.unlock();
            }
        }
    }

    private void goOn(Worker worker) {
        final int next = decide();
        if (next != worker.index) {
            handOver(next);
            worker.awaitTurn();
        }
    }

    private boolean isEnabled(int thread) {
        return !ended[thread] && (!parked[thread] || timed[thread] && scenario.mayTimeOut(thread));
    }

    private int decide() {
        if (step == decisions.size()) {
            final List<Integer> enabled = new ArrayList<>();
            final boolean running = current != NOBODY && isEnabled(current);
            if (running) {
                enabled.add(current);
            }
            for (int i = 0; i < ended.length; i++) {
                if (i != current && isEnabled(i)) {
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

    private static void awaitUntil(BooleanSupplier done, Condition condition) {
        long patienceNs = TimeUnit.SECONDS.toNanos(60);
        while (!done.getAsBoolean()) {
            if (patienceNs <= 0) {
                throw new AssertionError("a scheduled thread waits for another one");
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
            if (closing) {
                throw new IllegalStateException("the exploration is over");
            }
        }

        @Override
        public void run() {
            lock.lock();
            try {
                while (!closing) {
                    while (current != index && !closing) {
                        turns.get(index).awaitUninterruptibly();
                    }
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
