package org.rowankv.server.engine;

import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.replication.CommitAgent;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * The last agent in a duty cycle of a server's agents: counts quiet cycles and computes the agents' idle time. Run by
 * one thread; its counters are thread-safe.
 */
final class QuiescenceTracker implements Agent {
    /** Idle time of agents without work, if all work is signalled. */
    private static final long IDLE_NS = 250_000_000;

    private final boolean hasBackupLog;
    private final Replicas replicas;
    private final DigestAgent digest;
    private final ClearSweepAgent sweep;
    private final CleanAgent cleaner;
    private final CommitAgent commit;
    private final RetentionAgents ending;
    private final OwnedCounter quietCycles = new OwnedCounter();
    private final OwnedCounter digestCycles = new OwnedCounter();
    /** Whether the fabric signals landings; else the agents must poll. */
    private boolean mayIdle;
    /** How long the agents may idle, if there is no work. */
    private volatile long idleNs;

    QuiescenceTracker(
            boolean hasBackupLog,
            Replicas replicas,
            DigestAgent digest,
            ClearSweepAgent sweep,
            CleanAgent cleaner,
            CommitAgent commit,
            RetentionAgents ending) {
        this.hasBackupLog = hasBackupLog;
        this.replicas = replicas;
        this.digest = digest;
        this.sweep = sweep;
        this.cleaner = cleaner;
        this.commit = commit;
        this.ending = ending;
    }

    /** Enables idling: the fabric signals landings. Call before the start. */
    void allowRests() {
        mayIdle = true;
    }

    @Override
    public int doWork() {
        long canIdleNs = 0;
        if (isSettled()) {
            digestCycles.add(1);
            if (!digest.awaitsCommit()
                    && !cleaner.isBusy()
                    && !cleaner.isSpaceRequested()
                    && !ending.eviction().isGivingSpace()
                    && !ending.parts().isAwaited()
                    && !remembersDeletions()) {
                quietCycles.add(1);
                canIdleNs = mayIdle && commit.isQuiet() && !ending.areAtWork() ? IDLE_NS : 0;
            }
        }
        idleNs = canIdleNs;
        return 0;
    }

    /**
     * Whether tombstones wait for CommitVer before they can be dropped. Those of joining replicas wait for a copy,
     * perhaps for long.
     */
    private boolean remembersDeletions() {
        for (ShardReplica replica : replicas.all()) {
            if (!replica.isJoining() && replica.deletions().size() > 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String roleName() {
        return "settled";
    }

    /** Whether digest and sweep had no work left in their last cycle. */
    boolean isSettled() {
        return (!hasBackupLog || digest.isIdle()) && sweep.isIdle() && sweep.isDone();
    }

    /** Quiet cycles: no work was left that frees space. */
    long settled() {
        return quietCycles.get();
    }

    /** Cycles after which all landed entries were digested, and every clear swept. */
    long digested() {
        return digestCycles.get();
    }

    /** How long all agents of a shared thread may idle after a cycle without work; 0: only a moment. */
    long agentsIdleNs() {
        return idleNs;
    }

    /** The same for a commit agent with its own thread. */
    long commitIdleNs() {
        return mayIdle && commit.isQuiet() ? IDLE_NS : 0;
    }
}
