package org.rowankv.server.durability;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.LandingForce;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.AgentHandle;

/**
 * Group commit of one area at the level {@link Durability#POWER}. A writer names its bytes ({@link #flush}) and
 * requests a ticket for them ({@link #request}). The {@link ForceAgent} takes all named ranges, forces them once, and
 * publishes the highest durable ticket. Requests that arrive during a force are batched into the next one.
 *
 * <p>Guarantees: a forced ticket covers every flush before its request, by any thread; {@code forced ≤ requested}. A
 * failed force is the last one: tickets not published by then never are.
 *
 * <p>Thread-safe. {@link #request} and {@link #isForced} never wait; {@link #drain} does, for rare steps.
 */
public final class GroupCommit implements DurabilityVerbs, LandingForce {
    private static final long LOOK_EVERY_NS = 50_000;

    private final AreaMemory memory;
    private final String area;
    private final Object forcing = new Object();
    /** Guarded by this object, held briefly. */
    private ForceRanges collecting = new ForceRanges();

    private long requested;
    /** Guarded by {@link #forcing}, held as long as the device takes. */
    private ForceRanges spare = new ForceRanges();

    private volatile long forced;
    private volatile @Nullable ForceFailedException failure;
    private volatile @Nullable AgentHandle agent;
    private volatile @Nullable Thread agentThread;
    /** Whether only one thread runs at a time, as in simulation: a drain then forces on its own thread. */
    private volatile boolean oneAtATime;
    /** Called on a failure, before the failure is visible to others. */
    private volatile Consumer<ForceFailedException> whenFailed = failed -> {};

    /** Called whenever more is on the device. */
    private volatile Runnable whenForced = () -> {};

    private final OwnedCounter forces = new OwnedCounter();

    public GroupCommit(AreaMemory memory, String area) {
        this.memory = memory;
        this.area = area;
    }

    @Override
    public void flush(long address, long length) {
        synchronized (this) {
            collecting.add(address, length);
        }
    }

    @Override
    public long request() {
        final long ticket;
        synchronized (this) {
            ticket = ++requested;
        }
        final AgentHandle waking = agent;
        if (waking != null) {
            waking.wakeUp();
        }
        return ticket;
    }

    @Override
    public boolean isForced(long ticket) {
        return ticket <= forced;
    }

    /**
     * Waits for the agent, as long as the device takes. Before the agent starts, after its end, and on its own thread,
     * the caller forces itself.
     */
    @Override
    public void drain() {
        final long ticket = request();
        boolean interrupted = false;
        try {
            while (!isForced(ticket)) {
                requireWorking();
                final Thread forcingThread = agentThread;
                final AgentHandle handle = agent;
                if (forcingThread == null || handle == null || handle.isClosed()) {
                    FileThread.run("rowan-force", this::force);
                } else if (forcingThread == Thread.currentThread() || oneAtATime) {
                    force();
                } else {
                    LockSupport.parkNanos(this, LOOK_EVERY_NS);
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Forces what is requested; returns whether there was anything. Only on an internal thread.
     *
     * @throws ForceFailedException the first time it fails, and never again
     */
    boolean force() {
        synchronized (forcing) {
            final ForceRanges ranges;
            final long upTo;
            synchronized (this) {
                if (requested == forced || failure != null) {
                    return false;
                }
                upTo = requested;
                ranges = collecting;
                collecting = spare;
            }
            try {
                memory.force(ranges);
            } catch (RuntimeException | Error e) {
                throw failed(e);
            }
            ranges.clear();
            spare = ranges;
            forces.add(1);
            forced = upTo;
            whenForced.run();
            return true;
        }
    }

    /**
     * Verbs that reach the device before they return, concurrent with the agent's forces: for the superblock. The
     * system reports a failed write to one force only, which may be one of these. So their failure is the area's, too.
     */
    public DurabilityVerbs atOnce(DurabilityVerbs device) {
        return new AtOnce(device);
    }

    private final class AtOnce implements DurabilityVerbs {
        private final DurabilityVerbs device;

        AtOnce(DurabilityVerbs device) {
            this.device = device;
        }

        @Override
        public void flush(long address, long length) {
            reach(() -> device.flush(address, length));
        }

        @Override
        public void drain() {
            reach(device::drain);
        }

        private void reach(Runnable force) {
            synchronized (forcing) {
                requireWorking();
                try {
                    force.run();
                } catch (RuntimeException e) {
                    throw failed(e);
                }
            }
        }
    }

    /** Stops all forcing. Requires {@link #forcing}. */
    private ForceFailedException failed(Throwable cause) {
        final ForceFailedException failed = new ForceFailedException(area, cause);
        // First: a thread that meets the failure itself must find the server stopped.
        whenFailed.accept(failed);
        failure = failed;
        return failed;
    }

    /** Whether a caller waits for a force that can still happen. */
    synchronized boolean isRequested() {
        return requested != forced && failure == null;
    }

    private void requireWorking() {
        final ForceFailedException failed = failure;
        if (failed != null) {
            throw failed;
        }
    }

    /** The reason why nothing is forced any more, or null. */
    @Nullable
    public ForceFailedException failure() {
        return failure;
    }

    /** @param listener called once, by the forcing thread, before the failure is visible to others */
    public void whenFailed(Consumer<ForceFailedException> listener) {
        whenFailed = listener;
    }

    /** @param listener called by the forcing thread after each force; must not block */
    public void whenForced(Runnable listener) {
        whenForced = listener;
    }

    public void wakes(@Nullable AgentHandle handle, boolean isOneAtATime) {
        agent = handle;
        oneAtATime = isOneAtATime;
    }

    /** Sets the forcing thread; null: each draining thread forces. */
    void runsOn(@Nullable Thread thread) {
        agentThread = thread;
    }

    /** The number of device writes. */
    public long forces() {
        return forces.get();
    }
}
