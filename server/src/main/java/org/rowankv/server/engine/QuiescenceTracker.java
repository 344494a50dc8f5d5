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
 * Comes last in every turn of a server's agents, counts the turns that left nothing to do, and says how long the agents may rest
 * behind them. Turned by one thread; what it has counted is for any thread.
 */
final class QuiescenceTracker implements Agent {
    /** Between two turns of agents that have nothing to do, where whatever they would do is told to them. */
    private static final long REST_NS = 250_000_000;

    private final boolean hasBackupLog;
    private final Replicas replicas;
    private final DigestAgent digest;
    private final ClearSweepAgent sweep;
    private final CleanAgent cleaner;
    private final CommitAgent commit;
    private final RetentionAgents ending;
    private final OwnedCounter settled = new OwnedCounter();
    private final OwnedCounter digested = new OwnedCounter();
    /** Whether the fabric says when something has landed; else the agents have to look. */
    private boolean mayRest;
    /** How long the agents may rest, if there is nothing to do. */
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

    /** Before the start: the fabric says when something has landed. */
    void allowRests() {
        mayRest = true;
    }

    @Override
    public int doWork() {
        long canRestNs = 0;
        if (isSettled()) {
            digested.add(1);
            if (!digest.awaitsCommit()
                    && !cleaner.isBusy()
                    && !cleaner.isSpaceWanted()
                    && !ending.eviction().isGivingSpace()
                    && !remembersDeletions()) {
                settled.add(1);
                canRestNs = mayRest && commit.isQuiet() && !ending.areAtWork() ? REST_NS : 0;
            }
        }
        idleNs = canRestNs;
        return 0;
    }

    /** Whether tombstones wait for CommitVer before they can be dropped. Those that wait for a copy to end may wait long. */
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

    /** Whether digest and sweep had no work left at their last turn. */
    boolean isSettled() {
        return (!hasBackupLog || digest.isIdle()) && sweep.isIdle() && sweep.isDone();
    }

    /** Turns that found nothing left to do which gives space back. */
    long settled() {
        return settled.get();
    }

    /** Turns at whose end all that had landed was digested, and every clear swept. */
    long digested() {
        return digested.get();
    }

    /** How long all agents that share its thread may rest after a turn without work; 0: not longer than a moment. */
    long agentsIdleNs() {
        return idleNs;
    }

    /** The same, of the commit agent on a thread of its own. */
    long commitIdleNs() {
        return mayRest && commit.isQuiet() ? REST_NS : 0;
    }
}
