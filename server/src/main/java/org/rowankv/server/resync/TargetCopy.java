package org.rowankv.server.resync;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.resync.CopyProgress.Phase;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * The copies of all shards that one incarnation of a server lacks. First the space that all need is announced, then one
 * shard after the other is copied. A server that does not answer holds up only this. Used by one agent; any thread
 * reads the progress.
 */
final class TargetCopy {
    /** What they refer to is read from memory that may be cold: the agents beside this one wait meanwhile. */
    private static final int BUCKETS_PER_TURN = 128;
    /** While the receiver is asked what it has of one, others are copied. */
    private static final int SHARDS_AT_ONCE = 4;

    private final int server;
    private final long incarnation;
    private final CurrentRoles current;
    private final Segments segments;
    private final InFlightWindow inFlight;
    private final CopyListener listener;
    private final CopyWindow window;
    private final List<ShardCopy> shards = new CopyOnWriteArrayList<>();
    /** Whose entries are being read. */
    private final List<ShardCopy> copying = new ArrayList<>();

    private Roles roles;
    private boolean lacksRoom;
    private int sentEntries;
    private long sentBytes;

    /** @param roles that have made it joining, of which nothing is taken up yet */
    TargetCopy(
            int server,
            CurrentRoles current,
            Roles roles,
            Segments segments,
            InFlightWindow inFlight,
            CopyListener listener,
            CopyWindow window) {
        this.server = server;
        this.incarnation = roles.incarnation(server);
        this.current = current;
        this.roles = roles;
        this.segments = segments;
        this.inFlight = inFlight;
        this.listener = listener;
        this.window = window;
    }

    int server() {
        return server;
    }

    boolean isFor(Roles roles) {
        return roles.incarnation(server) == incarnation;
    }

    List<ShardCopy> shards() {
        return shards;
    }

    /** Whether the receiver knows of all shards that they have landed there. */
    boolean isDone() {
        for (int i = 0; i < shards.size(); i++) {
            if (shards.get(i).phase() != Phase.COPIED) {
                return false;
            }
        }
        return true;
    }

    /** Drops the shards of which that server is no joining backup any more, and adds those of which it is one now. */
    void takeUp(Roles next) {
        for (ShardCopy copy : shards) {
            if (goesOn(copy, next)) {
                copy.epoch(next.epoch(copy.shard()));
            } else {
                drop(copy);
            }
        }
        for (ShardPrimary primary : next.primaries()) {
            final int shard = primary.replica().shardId();
            if (isCopied(shard, next) && shards.stream().noneMatch(copy -> copy.shard() == shard)) {
                shards.add(new ShardCopy(primary, server, next.epoch(shard), segments, listener));
            }
        }
        roles = next;
    }

    /** Unseen roles may lie in between, in which that server had left the shard: each change of the set is an epoch. */
    private boolean goesOn(ShardCopy copy, Roles next) {
        final int shard = copy.shard();
        return next.has(copy.primary()) && isCopied(shard, next) && next.epoch(shard) - roles.epoch(shard) <= 1;
    }

    /** Not by a primary that hands the shard over: what it sends must have landed before the next one begins. */
    private boolean isCopied(int shard, Roles next) {
        return next.isJoining(shard, server) && !next.isLeaving(shard);
    }

    private void drop(ShardCopy copy) {
        shards.remove(copy);
        window.forget(copy);
        copying.remove(copy);
    }

    /**
     * Makes all progress that is possible now.
     *
     * @param maxEntries to send
     * @param maxBytes to send, exceeded by one entry at most
     * @return the number of steps
     */
    int turn(int maxEntries, long maxBytes, long nowNs) {
        sentEntries = 0;
        sentBytes = 0;
        int done = prepare() + announce(nowNs) + window.advance() + complete();
        if (isSpaceReserved()) {
            done += copy(maxEntries, maxBytes, nowNs);
        }
        window.send();
        return done + report(nowNs);
    }

    void close() {
        window.close();
    }

    /** Entries sent in the last turn. */
    int sentEntries() {
        return sentEntries;
    }

    /** Their bytes. */
    long sentBytes() {
        return sentBytes;
    }

    private int prepare() {
        int done = 0;
        for (int i = 0; i < shards.size(); i++) {
            final ShardCopy copy = shards.get(i);
            done += copy.phase() == Phase.AWAITING_VERSIONS && copy.begin(inFlight) ? 1 : 0;
        }
        for (int i = 0; i < shards.size(); i++) {
            if (shards.get(i).phase() == Phase.MEASURING) {
                shards.get(i).measure(BUCKETS_PER_TURN, window::creditOf);
                return done + 1;
            }
        }
        return done;
    }

    private int announce(long nowNs) {
        int done = 0;
        for (int i = 0; i < shards.size(); i++) {
            final ShardCopy copy = shards.get(i);
            if (copy.phase() == Phase.ANNOUNCING
                    && copy.isCallDue(nowNs)
                    && listener.announced(copy.shard(), copy.epoch(), server, copy.bytes(), copy.destroyed())) {
                copy.announced();
                done++;
            }
        }
        return done;
    }

    /** Whether that is so for all shards that can be copied, so that none of them finds its space taken. */
    private boolean isSpaceReserved() {
        for (int i = 0; i < shards.size(); i++) {
            final Phase phase = shards.get(i).phase();
            if (phase == Phase.MEASURING || phase == Phase.ANNOUNCING) {
                return false;
            }
        }
        return true;
    }

    private int copy(int maxEntries, long maxBytes, long nowNs) {
        int done = 0;
        lacksRoom = false;
        for (int i = 0; i < SHARDS_AT_ONCE && !lacksRoom && sentEntries < maxEntries && sentBytes < maxBytes; i++) {
            if (i == copying.size() && !beginNext()) {
                break;
            }
            final ShardCopy copy = copying.get(i);
            final int before = sentEntries;
            final int read = copy(copy, maxEntries, maxBytes, nowNs);
            if (read == CopySource.END) {
                copying.remove(i);
                i--;
            }
            done += sentEntries - before + (read == CopySource.END || read == CopySource.NOT_YET ? 1 : 0);
        }
        return done;
    }

    /** What the source returned last; {@link CopySource#NO_ROOM} if the window was full before. */
    private int copy(ShardCopy copy, int maxEntries, long maxBytes, long nowNs) {
        int length = CopySource.NO_ROOM;
        while (sentEntries < maxEntries && sentBytes < maxBytes && !window.isFull()) {
            length = window.add(copy);
            if (length == CopySource.END) {
                copy.ended();
            }
            if (length == CopySource.AWAITS_REPAIR) {
                copy.awaitRepair(nowNs);
            }
            if (length <= 0) {
                lacksRoom = length == CopySource.NO_ROOM; // smaller ones must not overtake it for ever
                return length;
            }
            sentEntries++;
            sentBytes += length;
        }
        return length;
    }

    private int complete() {
        int done = 0;
        for (int i = 0; i < shards.size(); i++) {
            final ShardCopy copy = shards.get(i);
            if (copy.hasLanded()) {
                if (current.get() != roles) {
                    break; // what seems to have landed may have been dropped
                }
                copy.copied();
                done++;
            }
        }
        return done;
    }

    private boolean beginNext() {
        for (int i = 0; i < shards.size(); i++) {
            final ShardCopy next = shards.get(i);
            if (next.phase() == Phase.WAITING && !copying.contains(next)) {
                copying.add(next);
                return true;
            }
        }
        return false;
    }

    private int report(long nowNs) {
        int done = 0;
        for (int i = 0; i < shards.size(); i++) {
            final ShardCopy copy = shards.get(i);
            if (copy.phase() == Phase.REPORTING
                    && copy.isCallDue(nowNs)
                    && listener.copied(copy.shard(), copy.epoch(), server)) {
                copy.reported();
                done++;
            }
        }
        return done;
    }
}
