package org.rowankv.topology;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;

/**
 * Assignment of one shard in the configuration.
 *
 * <p>A replica is <i>joining</i> until its copy of the shard is complete: it receives and acknowledges every write, but
 * earlier writes may be missing, so it is never promoted and never suffices alone.
 *
 * @param epoch the shard's epoch: rises whenever its replica set or its primary's incarnation changes
 * @param primary the server that orders the shard's writes; never joining
 * @param backups the other servers that acknowledge every write, complete or joining
 * @param joining the joining backups
 * @param origin the epoch with which the shard began empty, after all of its complete replicas were lost: what is older
 *     is void. 0 if that never happened
 */
public record ShardAssignment(int epoch, int primary, int[] backups, Set<Integer> joining, int origin) {
    private static final int NO_SERVER = -1;

    public ShardAssignment(int epoch, int primary, int[] backups) {
        this(epoch, primary, backups, Set.of());
    }

    public ShardAssignment(int epoch, int primary, int[] backups, Set<Integer> joining) {
        this(epoch, primary, backups, joining, 0);
    }

    public ShardAssignment {
        if (epoch < 0 || epoch > Version.MAX_EPOCH) {
            throw new IllegalArgumentException("epoch out of range 0.." + Version.MAX_EPOCH + ": " + epoch);
        }
        if (origin < 0 || origin > epoch) {
            throw new IllegalArgumentException("begins with epoch " + origin + " and is in epoch " + epoch);
        }
        backups = backups.clone();
        joining = Set.copyOf(joining);
        for (int backup : backups) {
            if (backup == primary) {
                throw new IllegalArgumentException("server " + primary + " is primary and backup of one shard");
            }
        }
        for (int server : joining) {
            if (!contains(backups, server)) {
                throw new IllegalArgumentException("server " + server + " is joining and no backup");
            }
        }
    }

    @Override
    public int[] backups() {
        return backups.clone();
    }

    public int replicaCount() {
        return 1 + backups.length;
    }

    public boolean isReplica(int server) {
        return primary == server || contains(backups, server);
    }

    /** The replicas at other servers than that one. */
    public int[] others(int server) {
        return IntStream.concat(IntStream.of(primary), Arrays.stream(backups))
                .filter(each -> each != server)
                .toArray();
    }

    private static boolean contains(int[] servers, int server) {
        for (int each : servers) {
            if (each == server) {
                return true;
            }
        }
        return false;
    }

    public boolean isJoining(int server) {
        return joining.contains(server);
    }

    /** Whether the server's replica suffices alone: it contains every acknowledged write. */
    public boolean isComplete(int server) {
        return isReplica(server) && !joining.contains(server);
    }

    /**
     * The same servers in a later epoch.
     *
     * @throws IllegalStateException if the shard has had all of its epochs
     */
    public ShardAssignment withEpoch(int newEpoch) {
        if (newEpoch > Version.MAX_EPOCH) {
            throw new IllegalStateException("a shard has had all of its " + Version.MAX_EPOCH
                    + " epochs, one for each start: copy the objects to a new store");
        }
        return new ShardAssignment(newEpoch, primary, backups, joining, origin);
    }

    /**
     * The same servers after some of them lost their data: those are joining now.
     *
     * @param preferred becomes primary if its replica is complete; otherwise the first complete one
     * @return null if no complete replica is left
     */
    @Nullable
    ShardAssignment without(Set<Integer> lost, int preferred) {
        int first = isComplete(preferred) && !lost.contains(preferred) ? preferred : NO_SERVER;
        final int[] servers = new int[replicaCount()];
        servers[0] = primary;
        System.arraycopy(backups, 0, servers, 1, backups.length);
        for (int i = 0; i < servers.length && first == NO_SERVER; i++) {
            first = isComplete(servers[i]) && !lost.contains(servers[i]) ? servers[i] : NO_SERVER;
        }
        if (first == NO_SERVER) {
            return null;
        }
        final int[] others = new int[backups.length];
        final Set<Integer> nowJoining = new HashSet<>();
        int count = 0;
        for (int server : servers) {
            if (server != first) {
                others[count++] = server;
                if (lost.contains(server) || joining.contains(server)) {
                    nowJoining.add(server);
                }
            }
        }
        return new ShardAssignment(epoch, first, others, nowJoining, origin);
    }

    /**
     * Without some servers, in a new epoch if it has any of them.
     *
     * @param excluded never have a role again under their present incarnation
     * @param preferred becomes primary if that is excluded and this one's replica is complete; otherwise the first
     *     complete one does
     * @return null if no complete replica is left: then the shard keeps its servers, and waits
     */
    public @Nullable ShardAssignment excluding(Set<Integer> excluded, int preferred) {
        int next = excluded.contains(primary) ? NO_SERVER : primary;
        if (next == NO_SERVER && isComplete(preferred) && !excluded.contains(preferred)) {
            next = preferred;
        }
        for (int i = 0; i < backups.length && next == NO_SERVER; i++) {
            next = isComplete(backups[i]) && !excluded.contains(backups[i]) ? backups[i] : NO_SERVER;
        }
        if (next == NO_SERVER) {
            return null;
        }
        final int newPrimary = next;
        final int[] left = Arrays.stream(backups)
                .filter(server -> server != newPrimary && !excluded.contains(server))
                .toArray();
        final Set<Integer> leftJoining = new HashSet<>(joining);
        leftJoining.removeAll(excluded);
        return left.length == backups.length
                ? this
                : new ShardAssignment(epoch, newPrimary, left, leftJoining, origin).withEpoch(epoch + 1);
    }

    /**
     * On one server alone, in a new epoch, after all complete replicas were lost for good.
     *
     * @param isEmpty whether the shard begins empty; otherwise it goes on with what that server has of it
     */
    public ShardAssignment recovered(int server, boolean isEmpty) {
        final ShardAssignment next =
                new ShardAssignment(epoch, server, new int[0], Set.of(), origin).withEpoch(epoch + 1);
        return isEmpty ? new ShardAssignment(next.epoch, server, next.backups, Set.of(), next.epoch) : next;
    }

    /** With one more backup, whose copy is not complete, in a new epoch. */
    public ShardAssignment adding(int server) {
        final int[] more = Arrays.copyOf(backups, backups.length + 1);
        more[backups.length] = server;
        final Set<Integer> moreJoining = new HashSet<>(joining);
        moreJoining.add(server);
        return new ShardAssignment(epoch, primary, more, moreJoining, origin).withEpoch(epoch + 1);
    }

    /** The same servers with another primary, in a new epoch. */
    ShardAssignment swapped(int newPrimary) {
        if (newPrimary == primary || !isComplete(newPrimary)) {
            throw new IllegalArgumentException("server " + newPrimary + " is no complete backup: " + this);
        }
        final int[] others = backups.clone();
        for (int i = 0; i < others.length; i++) {
            if (others[i] == newPrimary) {
                others[i] = primary;
            }
        }
        return new ShardAssignment(epoch, newPrimary, others, joining, origin).withEpoch(epoch + 1);
    }

    /** The same servers after one's copy became complete. */
    ShardAssignment joined(int server) {
        final Set<Integer> left = new HashSet<>(joining);
        left.remove(server);
        return new ShardAssignment(epoch, primary, backups, left, origin);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ShardAssignment that
                && epoch == that.epoch
                && origin == that.origin
                && primary == that.primary
                && Arrays.equals(backups, that.backups)
                && joining.equals(that.joining);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * (31 * (31 * epoch + origin) + primary) + Arrays.hashCode(backups)) + joining.hashCode();
    }

    @Override
    public String toString() {
        return "epoch " + epoch + " primary " + primary + " backups " + Arrays.toString(backups)
                + (joining.isEmpty() ? "" : " joining " + new TreeSet<>(joining))
                + (origin == 0 ? "" : " began empty in epoch " + origin);
    }
}
