package org.rowankv.server.manager;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.server.membership.TransferRequest;
import org.rowankv.topology.Configuration;

/**
 * What the servers report and what is asked for, as the next configurations that follow: the same for the manager of a
 * cluster and for that of a store in one process.
 *
 * <p>Any thread reports; the thread that changes configurations asks.
 */
public final class DueChanges {
    private final ShardReports completions;
    private final ShardReports renewals;

    /** @param alarm called when there is a report */
    public DueChanges(Runnable alarm) {
        this.completions = new ShardReports(alarm, (shard, server) -> shard.isJoining(server));
        this.renewals = new ShardReports(alarm, (shard, server) -> shard.primary() == server);
    }

    /** Reports of servers that their replicas are complete. */
    public ShardReports completions() {
        return completions;
    }

    /** Reports of primaries whose versions come to the end of the epoch. */
    public ShardReports renewals() {
        return renewals;
    }

    /** Whether there are reports, which may change the configuration. */
    public boolean hasReports() {
        return !completions.isEmpty() || !renewals.isEmpty();
    }

    /** With the replicas that have become complete; null if none has. */
    public @Nullable Configuration completed(Configuration present) {
        final Map<Integer, Set<Integer>> complete = completions.in(present);
        return complete.isEmpty() ? null : present.completed(complete);
    }

    /** With larger epochs of the shards whose versions come to their end; null if none do. */
    public @Nullable Configuration renewed(Configuration present) {
        final Set<Integer> ending = new TreeSet<>();
        renewals.in(present).values().forEach(ending::addAll);
        ending.removeIf(shard -> present.shard(shard).epoch() >= Version.MAX_EPOCH);
        return ending.isEmpty() ? null : present.renewed(ending);
    }

    /**
     * With the primaries that are asked for; null if none can be had now. A request is there until the roles that it asks
     * for are in force: another manager may have to go on with it. A shard that is being copied stays until the copy is
     * complete, because its primary sends it.
     *
     * @param present in force everywhere
     * @param asked those that are answered leave it
     * @param leaving servers that are about to stop
     */
    public static @Nullable Configuration handedOver(
            Configuration present, List<TransferRequest> asked, Set<Integer> leaving, TransferAnswers answers) {
        final Map<Integer, Integer> due = new TreeMap<>();
        asked.removeIf(request -> {
            final int shard = request.shard();
            if (request.isDoneIn(present)) {
                answers.done(request);
                return true;
            }
            final String whyNot = whyNot(present, request, leaving);
            if (whyNot != null) {
                answers.refused(request, whyNot);
                return true;
            }
            if (present.shard(shard).joining().isEmpty()) {
                due.put(shard, request.to());
            }
            return false;
        });
        return due.isEmpty() ? null : present.handedOver(due);
    }

    private static @Nullable String whyNot(Configuration present, TransferRequest request, Set<Integer> leaving) {
        if (request.shard() >= present.shardCount()
                || !present.shard(request.shard()).isComplete(request.to())) {
            return "server " + request.to() + " is no complete backup";
        }
        return leaving.contains(request.to()) ? "server " + request.to() + " is about to stop" : null;
    }
}
