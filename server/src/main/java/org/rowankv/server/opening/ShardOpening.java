package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.digest.LandingPosition;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.ShardAssignment;

/**
 * The opening of one shard by its new primary: let every other replica give the shard up, one of which may be its primary
 * still; digest what had landed before that, and before the fence; collect from every other replica
 * what it has above every CommitVer; fetch what this one lacks; send each what it lacks; done when all that has landed.
 * So all replicas hold the same entries: one that some replica has takes effect, whether it was acknowledged or not, and
 * one that only the former primary has is void.
 *
 * <p>Every step may be repeated. An interrupted opening changes nothing that the next one would not do. Owned by the
 * opening agent.
 */
final class ShardOpening {
    /** Resend interval of an unanswered question. */
    static final long AGAIN_NS = 100_000_000;
    /** Entries fetched at once. */
    private static final int MOST_FETCHES = 16;

    private enum Step {
        /** The configuration must be prepared and in force, and nothing of an earlier opening under way. */
        AWAITING_ROLES,
        /** Until the last one has given it up, a former primary may answer reads, and its entries may land. */
        AWAITING_HAND_OVER,
        DIGESTING,
        COLLECTING,
        COMPLETING,
        COMPLETE,
        OVER
    }

    /** Another replica. */
    private static final class Other {
        private final int server;
        private final Set<Long> versions = new TreeSet<>();
        private boolean hasHandedOver;
        private boolean isCollected;
        private boolean isAsked;
        private long askedNs;
        /** Of the question that is open. */
        private long above;
        /** Entries sent, or to be sent, that are not known to have landed there. */
        private int unlanded;

        Other(int server) {
            this.server = server;
        }
    }

    /** An entry that this replica lacks. */
    private static final class Missing {
        private final List<Other> holders = new ArrayList<>();
        /** The holder to ask next. */
        private int next;

        private boolean isAsked;
        private long askedNs;
        private @Nullable ByteBuffer fetched;
    }

    /** What it acts on. */
    interface Surroundings {
        DigestAgent digest();

        TailEntries entries();

        void ask(int server, OpeningMessage question);

        ScatterTarget target(int server);

        /** Whether anything of that shard is under way to any server. */
        boolean isSending(int shard);

        /** Something in an answer is impossible: it is as if it had not arrived. */
        void impossible(int server, int shard, String reason);
    }

    private final Surroundings around;
    private final ShardReplica replica;
    private final long term;
    private final int epoch;
    private final List<Other> others = new ArrayList<>();
    private final SortedMap<Long, Missing> missing = new TreeMap<>();
    private Step step = Step.AWAITING_ROLES;
    private @Nullable LandingPosition mark;
    private ShardChanges.@Nullable Handed changes;
    /** The server that was the primary in the epoch before, if the shard comes back from it. */
    private @Nullable Other between;
    /** Of the opening that this one goes on from; −1: there was none. */
    private int earlierEpoch = -1;
    /** The highest known of any replica. */
    private long commitVersion;

    private int unlanded;
    private int fetched;

    ShardOpening(Surroundings around, ShardReplica replica, long term, ShardAssignment assignment) {
        this.around = around;
        this.replica = replica;
        this.term = term;
        this.epoch = assignment.epoch();
        for (int server : assignment.backups()) {
            others.add(new Other(server));
        }
    }

    @Override
    public String toString() {
        return "shard " + shard() + " term " + term + " epoch " + epoch + ' ' + step + " awaits " + awaited()
                + " unlanded " + unlanded + " sending " + around.isSending(shard()) + " missing " + missing.keySet();
    }

    int shard() {
        return replica.shardId();
    }

    ShardReplica replica() {
        return replica;
    }

    /** Of the configuration for which it was requested. */
    long term() {
        return term;
    }

    int epoch() {
        return epoch;
    }

    int fetched() {
        return fetched;
    }

    boolean isOver() {
        return step == Step.OVER;
    }

    boolean isComplete() {
        return step == Step.COMPLETE;
    }

    /** The shard is open, or another opening takes its place. */
    void end() {
        step = Step.OVER;
    }

    /** The servers that it waits for, or none if it waits for this one. */
    Set<Integer> awaited() {
        final Set<Integer> servers = new TreeSet<>();
        for (Other other : others) {
            if (step == Step.AWAITING_HAND_OVER && !other.hasHandedOver
                    || step == Step.COLLECTING && !other.isCollected
                    || other.unlanded > 0) {
                servers.add(other.server);
            }
        }
        missing.values().forEach(each -> servers.add(each.holders.get(0).server));
        return servers;
    }

    /**
     * Makes progress.
     *
     * @param isReady whether the configuration is prepared here and in force
     */
    int advance(boolean isReady, long nowNs) {
        switch (step) {
            case AWAITING_ROLES -> {
                if (!isReady || around.isSending(shard())) {
                    return 0;
                }
                step = Step.AWAITING_HAND_OVER;
                return 1;
            }
            case AWAITING_HAND_OVER -> {
                return awaitHandOver(nowNs);
            }
            case DIGESTING -> {
                if (mark == null || !around.digest().isDigested(mark, shard())) {
                    return 0;
                }
                around.digest().beginEpoch(shard(), epoch);
                commitVersion = Math.max(commitVersion, replica.commitVersion());
                step = Step.COLLECTING;
                Chaos.point("opening.digested");
                return 1;
            }
            case COLLECTING -> {
                return collect(nowNs);
            }
            case COMPLETING -> {
                return complete(nowNs);
            }
            case COMPLETE, OVER -> {
                return 0;
            }
        }
        throw new AssertionError(step);
    }

    // --- hand-over ---

    private int awaitHandOver(long nowNs) {
        boolean isGivenUp = true;
        int asked = 0;
        for (Other other : others) {
            if (!other.hasHandedOver) {
                isGivenUp = false;
                if (!other.isAsked || nowNs - other.askedNs >= AGAIN_NS) {
                    other.isAsked = true;
                    other.askedNs = nowNs;
                    around.ask(other.server, OpeningMessage.handOver(shard(), epoch));
                    asked++;
                }
            }
        }
        if (!isGivenUp) {
            return asked;
        }
        mark = around.digest().landed(); // now: all that a former primary has sent is on all replicas
        step = Step.DIGESTING;
        return 1;
    }

    /** An answer to HAND_OVER has arrived. */
    void handedOver(int from, OpeningMessage answer) {
        final Other other = find(from);
        if (step != Step.AWAITING_HAND_OVER || other == null || other.hasHandedOver) {
            return;
        }
        other.hasHandedOver = true;
        other.isAsked = false;
        if (answer.isOfLastPrimary()) {
            changes = null; // it knows better
            collectedLast(other, answer);
        }
        take(from, answer);
    }

    /** What it has sent is on all replicas; it need not be asked once more. */
    private void collectedLast(Other last, OpeningMessage answer) {
        final String reason =
                CollectedAnswer.whyImpossible(epoch, Version.NONE, answer.commitVersion(), ByteBuffer.allocate(0));
        if (reason != null) {
            around.impossible(last.server, shard(), reason);
            return;
        }
        commitVersion = Math.max(commitVersion, answer.commitVersion());
        last.isCollected = true;
    }

    /**
     * Other roles have ended the opening of the epoch before, which was here: nothing was written in that epoch.
     *
     * @param received the change stream, if it came by then
     */
    void goOnFrom(int epochBefore, ShardChanges.@Nullable Handed received) {
        earlierEpoch = epochBefore;
        changes = received;
    }

    /**
     * The shard has left this server for the epoch before, in which nothing was written unless that server has opened it. It
     * says so when it hands the shard over; without its answer nothing is known.
     *
     * @param stream as this server has handed it over
     */
    void comesBack(int from, ShardChanges.@Nullable Handed stream) {
        between = find(from);
        if (between != null) {
            changes = stream;
        }
    }

    /** An answer to a question of an earlier opening has arrived: its change stream is still of use. */
    void lateChanges(int from, OpeningMessage answer) {
        if (answer.kind() == OpeningMessage.HANDED_OVER && answer.epoch() == earlierEpoch && changes == null) {
            take(from, answer);
        }
    }

    private void take(int from, OpeningMessage answer) {
        if (answer.payload().limit() > 0) {
            try {
                changes = HandedChanges.decode(answer.payload());
            } catch (IllegalArgumentException e) {
                around.impossible(from, shard(), "a change stream: " + e.getMessage());
            }
        }
    }

    /** The change stream of a former primary that has handed the shard over; null if there is none, or not known yet. */
    ShardChanges.@Nullable Handed changes() {
        return between != null && !between.hasHandedOver ? null : changes;
    }

    // --- collect ---

    private int collect(long nowNs) {
        boolean isCollected = true;
        int asked = 0;
        for (Other other : others) {
            if (!other.isCollected) {
                isCollected = false;
                asked += ask(other, nowNs);
            }
        }
        if (!isCollected) {
            return asked;
        }
        compare();
        step = Step.COMPLETING;
        Chaos.point("opening.collected");
        return 1;
    }

    private int ask(Other other, long nowNs) {
        if (!other.isAsked) {
            other.above = Math.max(other.above, commitVersion);
        } else if (nowNs - other.askedNs < AGAIN_NS) {
            return 0;
        }
        other.isAsked = true;
        other.askedNs = nowNs;
        around.ask(other.server, OpeningMessage.collect(shard(), epoch, other.above));
        return 1;
    }

    /** An answer to COLLECT has arrived. */
    void collected(int from, OpeningMessage answer) {
        final Other other = find(from);
        if (step != Step.COLLECTING
                || other == null
                || other.isCollected
                || !other.isAsked
                || answer.argument() != other.above) {
            return; // of an earlier question
        }
        final ByteBuffer versions = answer.payload();
        final String reason = CollectedAnswer.whyImpossible(epoch, other.above, answer.commitVersion(), versions);
        if (reason != null) {
            around.impossible(from, shard(), reason);
            return;
        }
        commitVersion = Math.max(commitVersion, answer.commitVersion());
        final int count = versions.limit() / Long.BYTES;
        for (int i = 0; i < count; i++) {
            other.versions.add(versions.getLong(i * Long.BYTES));
        }
        other.isAsked = false;
        other.isCollected = count < CollectedAnswer.MOST_VERSIONS;
        if (!other.isCollected) {
            other.above = versions.getLong((count - 1) * Long.BYTES);
        }
    }

    private @Nullable Other find(int server) {
        for (Other other : others) {
            if (other.server == server) {
                return other;
            }
        }
        return null;
    }

    /**
     * Up to the highest CommitVer of all replicas every one had the entries, and may have dropped them: a late copy of
     * one of those must not come back.
     */
    private void compare() {
        final Set<Long> mine = new TreeSet<>();
        for (long version : replica.tail().versionsAbove(commitVersion)) {
            mine.add(version);
        }
        final Set<Long> all = new TreeSet<>(mine);
        for (Other other : others) {
            other.versions.removeIf(version -> version <= commitVersion);
            all.addAll(other.versions);
        }
        for (long version : all) {
            if (mine.contains(version)) {
                scatter(version);
            } else {
                missing.put(version, lackedHere(version));
            }
        }
    }

    private Missing lackedHere(long version) {
        final Missing lacked = new Missing();
        for (Other other : others) {
            if (other.versions.contains(version)) {
                lacked.holders.add(other);
            }
        }
        return lacked;
    }

    // --- fetch and scatter ---

    private int complete(long nowNs) {
        int work = 0;
        int open = 0;
        final List<Long> added = new ArrayList<>();
        for (Map.Entry<Long, Missing> each : missing.entrySet()) {
            if (open++ == MOST_FETCHES) {
                break;
            }
            final ByteBuffer entry = each.getValue().fetched;
            if (entry == null) {
                work += fetch(each.getKey(), each.getValue(), nowNs);
            } else if (around.entries().add(replica, entry)) {
                added.add(each.getKey());
            }
        }
        for (long version : added) {
            missing.remove(version);
            fetched++;
            scatter(version);
            Chaos.point("opening.fetched");
        }
        if (missing.isEmpty() && unlanded == 0 && around.entries().isForced()) {
            step = Step.COMPLETE;
            return work + 1;
        }
        return work + added.size();
    }

    /** Asks the replicas that have the entry in turn. */
    private int fetch(long version, Missing lacked, long nowNs) {
        if (lacked.isAsked && nowNs - lacked.askedNs < AGAIN_NS) {
            return 0;
        }
        lacked.askedNs = nowNs;
        final Other holder = lacked.holders.get(lacked.next);
        lacked.next = lacked.next + 1 == lacked.holders.size() ? 0 : lacked.next + 1;
        lacked.isAsked = true;
        around.ask(holder.server, OpeningMessage.fetch(shard(), epoch, version));
        return 1;
    }

    /** An answer to FETCH has arrived. */
    void fetched(int from, OpeningMessage answer, int mostBytes) {
        final Missing lacked = step == Step.COMPLETING ? missing.get(answer.argument()) : null;
        if (lacked == null || lacked.fetched != null) {
            return; // the answer to a repeated question
        }
        final String reason = CollectedAnswer.whyInvalid(shard(), answer.argument(), answer.payload(), mostBytes);
        if (reason != null) {
            around.impossible(from, shard(), reason);
            return;
        }
        lacked.fetched = answer.payload();
    }

    /** Sends an entry, which this replica has, to those that lack it. */
    private void scatter(long version) {
        for (Other other : others) {
            if (!other.versions.contains(version)) {
                around.target(other.server).add(this, version);
                other.unlanded++;
                unlanded++;
            }
        }
    }

    /** One of the entries is on that server. */
    void landed(int server) {
        final Other other = find(server);
        if (other == null) {
            throw new AssertionError("server " + server + " holds no replica of shard " + shard());
        }
        other.unlanded--;
        unlanded--;
    }
}
