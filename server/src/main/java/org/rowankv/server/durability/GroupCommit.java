package org.rowankv.server.durability;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.LandingForce;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.AgentHandle;

/**
 * Group commit of one area at the level {@link Durability#POWER}: whoever stored bytes names them ({@link #flush}) and
 * asks for them ({@link #request}); the {@link ForceAgent} takes all that was named, forces it once, and publishes up to
 * which ticket everything is on the device. While one force is under way the next one's requests come together.
 *
 * <p>Guarantees: a forced ticket covers every flush that happened before its request, of whatever thread. A force that
 * failed is the last one: tickets not published by then never are.
 *
 * <p>For any thread. {@link #request} and {@link #isForced} never wait; {@link #drain} does, for steps that are rare.
 */
public final class GroupCommit implements DurabilityVerbs, LandingForce {
    private static final long LOOK_EVERY_NS = 50_000;

    private final AreaMemory memory;
    private final String area;
    private final Object forcing = new Object();
    /** Guarded by this object, and held for moments only. */
    private ForceRanges collecting = new ForceRanges();

    private long requested;
    /** Guarded by {@link #forcing}, and held for as long as the device takes. */
    private ForceRanges spare = new ForceRanges();

    private volatile long forced;
    private volatile @Nullable ForceFailedException failure;
    private volatile @Nullable AgentHandle agent;
    private volatile @Nullable Thread agentThread;
    /** Whether nobody goes on while somebody waits. */
    private volatile boolean oneAtATime;
    /** Told of the failure before anybody meets it. */
    private volatile Consumer<ForceFailedException> whenFailed = failed -> {};

    /** Told whenever more is on the device. */
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
     * Waits for the agent, as long as the device takes. Before it is there, behind its end, and on its own thread, the caller's wait
     * is the force itself.
     */
    @Override
    public void drain() {
        final long ticket = request();
        boolean interrupted = false;
        try {
            while (!isForced(ticket)) {
                requireWorking();
                final Thread forcingThread = agentThread;
                final AgentHandle turned = agent;
                if (forcingThread == null || turned == null || turned.isClosed()) {
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
     * Forces what was asked for; returns whether there was anything. On a thread of ours only.
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
     * Verbs that reach the device before they return, beside the agent's forces: for the superblock. The system reports a write that
     * failed to one force only, and that may be theirs. So their failure is the area's, too.
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

    /** Nothing is forced any more. Holds {@link #forcing}. */
    private ForceFailedException failed(Throwable cause) {
        final ForceFailedException failed = new ForceFailedException(area, cause);
        // First: what meets the failure by itself finds no server that still answers.
        whenFailed.accept(failed);
        failure = failed;
        return failed;
    }

    /** Whether somebody waits for a force that can still come. */
    synchronized boolean isWanted() {
        return requested != forced && failure == null;
    }

    private void requireWorking() {
        final ForceFailedException failed = failure;
        if (failed != null) {
            throw failed;
        }
    }

    /** Why nothing is forced any more, or null. */
    @Nullable
    public ForceFailedException failure() {
        return failure;
    }

    /** @param told once, by the thread that could not force, before anybody can meet the failure */
    public void whenFailed(Consumer<ForceFailedException> told) {
        whenFailed = told;
    }

    /** @param told by the thread that forces, after each force: must not block */
    public void whenForced(Runnable told) {
        whenForced = told;
    }

    public void wakes(@Nullable AgentHandle turned, boolean isOneAtATime) {
        agent = turned;
        oneAtATime = isOneAtATime;
    }

    /** The thread that forces from now on; null: whoever drains. */
    void isTurnedBy(@Nullable Thread thread) {
        agentThread = thread;
    }

    /** How often the device was written to. */
    public long forces() {
        return forces.get();
    }
}
