package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.resync.CopyProgress.Phase;
import org.rowankv.server.shard.ShardPrimary;

/** The copy of one shard to one joining server, step by step. Used by one agent; any thread reads its progress. */
final class ShardCopy {
    private static final long AGAIN_NS = 50_000_000L;
    /** Much longer than a repair takes whose replicas answer. */
    private static final long REPAIR_NS = 10_000_000_000L;

    private final ShardPrimary primary;
    private final int server;
    private final Segments segments;
    private final CopyListener listener;
    /** With which the joining replica's tenure began. */
    private final int tenure;

    /** In which the shard's primary copies now. */
    private volatile int epoch;

    private @Nullable CopySize size;
    private @Nullable CopySource source;
    /** Of a source that has ended. */
    private long presentThere;
    /** Entries that were taken from the source and have not landed. */
    private int underWay;

    private boolean isEnded;
    private boolean hasMetDamage;
    /** When that was, for the first time. */
    private long metDamageNs;
    /** When the receiver was called last. */
    private long calledNs;

    private boolean isCalled;
    private volatile Phase phase = Phase.AWAITING_VERSIONS;
    private volatile long bytes;
    private volatile long copiedBytes;

    /** In the roles in force that server is a joining backup, since that epoch. */
    ShardCopy(ShardPrimary primary, int server, int epoch, Segments segments, CopyListener listener) {
        this.primary = primary;
        this.server = server;
        this.segments = segments;
        this.listener = listener;
        this.tenure = epoch;
        this.epoch = epoch;
    }

    ShardPrimary primary() {
        return primary;
    }

    int shard() {
        return primary.replica().shardId();
    }

    int epoch() {
        return epoch;
    }

    /** Whether its primary's index shows all from before the other replica's tenure, in that epoch. Any thread. */
    boolean hasBegun(int ofEpoch) {
        return epoch == ofEpoch && phase != Phase.AWAITING_VERSIONS;
    }

    Phase phase() {
        return phase;
    }

    long bytes() {
        return bytes;
    }

    CopyProgress progress() {
        return new CopyProgress(shard(), server, phase, bytes, copiedBytes);
    }

    /** The copy goes on in another epoch. What was said of it in an earlier one must be said again. */
    void epoch(int next) {
        if (epoch == next) {
            return;
        }
        epoch = next;
        if (source != null) {
            source.askAgain();
        }
        if (phase == Phase.COPIED) {
            enter(Phase.REPORTING);
        } else if (phase == Phase.WAITING) {
            enter(Phase.ANNOUNCING);
        }
    }

    private void enter(Phase next) {
        isCalled = false;
        phase = next;
    }

    /** Whether the receiver is to be called now: at once, and again until it has answered. */
    boolean isCallDue(long nowNs) {
        if (isCalled && nowNs - calledNs < AGAIN_NS) {
            return false;
        }
        isCalled = true;
        calledNs = nowNs;
        return true;
    }

    /**
     * The index shows an entry only when all backups of its time have it. So one that is under way to those without the
     * joining server appears behind a traversal that began too early, and is on no way to that server. What has a version
     * of its tenure is sent there too. The counter follows the roles a moment later: until then it assigns older ones.
     */
    boolean begin(InFlightWindow inFlight) {
        if (inFlight.finished(shard(), primary.versions().last()) < Version.of(tenure, 0)) {
            return false;
        }
        enter(Phase.MEASURING);
        return true;
    }

    /** Counts some more buckets. */
    void measure(int buckets, IntToLongFunction creditOf) {
        CopySize measured = size;
        if (measured == null) {
            measured = new CopySize(segments, primary.replica(), tenure, creditOf);
            size = measured;
        }
        if (measured.advance(buckets)) {
            size = null;
            bytes = measured.bytes();
            enter(Phase.ANNOUNCING);
        }
    }

    /** The caches destroyed by now. Later ones, the receiver learns as a backup. */
    BitSet destroyed() {
        return primary.replica().clears().destroyedIds();
    }

    /** The receiver has reserved the space. */
    void announced() {
        enter(Phase.WAITING);
    }

    /** The entries in sequence; the first call begins the copy. */
    CopySource source(ByteBuffer target) {
        CopySource from = source;
        if (from == null) {
            from = new CopySource(
                    segments,
                    primary.replica(),
                    tenure,
                    question -> listener.ask(server, shard(), epoch, question),
                    target);
            source = from;
            enter(Phase.COPYING);
        }
        return from;
    }

    /** The source awaits the repair of an object, which may never come. */
    void awaitRepair(long nowNs) {
        if (!hasMetDamage) {
            hasMetDamage = true;
            metDamageNs = nowNs;
        } else if (nowNs - metDamageNs > REPAIR_NS && source != null) {
            source.leaveOutDamaged();
        }
    }

    /** An entry of the source is under way. */
    void taken() {
        underWay++;
    }

    /** One of them has landed. */
    void landed(int length) {
        underWay--;
        final long before = copiedBytes;
        copiedBytes = before + length;
    }

    /** Objects that were there already, so far. */
    long presentThere() {
        return source == null ? presentThere : source.presentThere();
    }

    /** The source has no more. */
    void ended() {
        presentThere = presentThere();
        isEnded = true;
        source = null;
    }

    /** Whether all has landed, and nothing has been made of it yet. */
    boolean hasLanded() {
        return isEnded && underWay == 0 && phase == Phase.COPYING;
    }

    /** All has landed. */
    void copied() {
        enter(Phase.REPORTING);
    }

    /** The receiver knows it. */
    void reported() {
        enter(Phase.COPIED);
    }
}
