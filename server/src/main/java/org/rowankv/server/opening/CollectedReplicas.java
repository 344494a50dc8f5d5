package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.digest.LandingPosition;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * The replicas of this server as they are collected by new primaries: answers their questions. Owned by the opening
 * agent.
 *
 * <p>COLLECT is answered only by a server that has prepared the epoch: then it has fenced off the former primary, and
 * nothing more of that lands. And only once it has digested what had landed: so the answer names all that the former
 * primary may have acknowledged. The last primary of a shard that is handed over says so with HANDED_OVER.
 */
final class CollectedReplicas {
    /** By then the next primary has asked again several times, if it has not received it and can be heard. */
    private static final long STREAM_LOST_NS = 5 * ShardOpening.AGAIN_NS;

    /** A question that waits. */
    private static final class Pending {
        private final OpeningMessage question;
        /** What had landed when this server had prepared the epoch and met the question; null before. */
        private @Nullable LandingPosition mark;

        Pending(OpeningMessage question) {
            this.question = question;
        }
    }

    private record Asker(int server, int shard) implements Comparable<Asker> {
        @Override
        public int compareTo(Asker other) {
            return server != other.server ? Integer.compare(server, other.server) : Integer.compare(shard, other.shard);
        }
    }

    private final int serverId;
    private final Replicas replicas;
    private final DigestAgent digest;
    private final TailEntries entries;
    private final OpeningTransport answers;
    private final Map<Asker, Pending> pending = new TreeMap<>();

    /** A shard of which this server was the last primary before that epoch, with its change stream if it has one. */
    static final class Left {
        private final int epoch;
        private final int next;
        private final @Nullable ByteBuffer changes;
        private boolean isSent;
        private long sentNs;

        Left(int epoch, int next, ShardChanges.@Nullable Handed stream) {
            this.epoch = epoch;
            this.next = next;
            this.changes = stream == null ? null : HandedChanges.encode(stream);
        }

        /** The primary of that epoch. */
        int next() {
            return next;
        }

        ShardChanges.@Nullable Handed stream() {
            return changes == null ? null : HandedChanges.decode(changes);
        }
    }

    private final Map<Integer, Left> left = new TreeMap<>();

    CollectedReplicas(
            int serverId, Replicas replicas, DigestAgent digest, TailEntries entries, OpeningTransport answers) {
        this.serverId = serverId;
        this.replicas = replicas;
        this.digest = digest;
        this.entries = entries;
        this.answers = answers;
    }

    /** A question has arrived; a later one of the same server about the same shard takes its place. */
    void asked(int from, OpeningMessage question, Configuration prepared) {
        if (question.shard() >= prepared.shardCount() || from < 0 || from >= prepared.serverCount()) {
            return;
        }
        if (question.kind() == OpeningMessage.FETCH) {
            fetch(from, question, prepared);
            return;
        }
        final Asker asker = new Asker(from, question.shard());
        final Pending before = pending.get(asker);
        if (before == null || !before.question.equals(question)) {
            pending.put(asker, new Pending(question));
        }
    }

    /** Whether the next primary of a shard, which has its roles in force, waits until it has left this server. */
    boolean isAskedToHandOver(int shard, Roles roles) {
        final Pending asked =
                pending.get(new Asker(roles.configuration().shard(shard).primary(), shard));
        return asked != null
                && asked.question.kind() == OpeningMessage.HAND_OVER
                && asked.question.epoch() == roles.epoch(shard);
    }

    boolean isIdle() {
        return pending.isEmpty();
    }

    /** Answers what can be answered now. */
    int doWork(Configuration prepared, Roles roles, long nowNs) {
        int work = 0;
        final Iterator<Map.Entry<Asker, Pending>> each = pending.entrySet().iterator();
        while (each.hasNext()) {
            final Map.Entry<Asker, Pending> next = each.next();
            final int from = next.getKey().server();
            final OpeningMessage question = next.getValue().question;
            final int epoch = prepared.shard(question.shard()).epoch();
            if (question.epoch() < epoch || question.epoch() == epoch && !isToAnswer(from, question, prepared)) {
                each.remove(); // from a server that is not the primary any more, or never was
                work++;
            } else if (question.epoch() == epoch && answer(from, next.getValue(), roles, nowNs)) {
                each.remove();
                work++;
            }
        }
        return work;
    }

    /** Forgets what it has kept of shards that have left, once it is of no use. */
    void forgetPast(Roles roles) {
        if (!left.isEmpty()) {
            left.entrySet().removeIf(kept -> isPast(kept.getKey(), kept.getValue(), roles));
        }
    }

    /** It is of use until the next primary has it, and in the epoch after that if this server is the primary again. */
    private static boolean isPast(int shard, Left kept, Roles roles) {
        final int epoch = roles.epoch(shard);
        return epoch != kept.epoch && !(epoch == kept.epoch + 1 && roles.isUnopened(shard));
    }

    /** Whether the question is one of the shard's primary of the prepared epoch to a backup of it. */
    private boolean isToAnswer(int from, OpeningMessage question, Configuration prepared) {
        final ShardAssignment assignment = prepared.shard(question.shard());
        return question.epoch() == assignment.epoch()
                && assignment.primary() == from
                && from != serverId
                && assignment.isReplica(serverId)
                && replicas.has(question.shard());
    }

    private boolean answer(int from, Pending asked, Roles roles, long nowNs) {
        final OpeningMessage question = asked.question;
        final boolean isHandOver = question.kind() == OpeningMessage.HAND_OVER;
        final Left handed = isHandOver ? left.get(question.shard()) : null;
        if (isHandOver) {
            if (roles.epoch(question.shard()) != question.epoch() || roles.find(question.shard()) != null) {
                return false;
            }
            Chaos.point("opening.handed-over");
            if (handed == null) {
                answers.send(from, question.handedOver());
                return true;
            }
        }
        if (asked.mark == null) {
            // Now, not when the fence was raised: by now what the same primary sent in an earlier attempt has landed.
            asked.mark = digest.landed();
        }
        if (!digest.isDigested(asked.mark, question.shard())) {
            return false;
        }
        digest.beginEpoch(question.shard(), question.epoch());
        Chaos.point("opening.answered");
        final ShardReplica replica = replicas.get(question.shard());
        final long commitVersion = replica.commitVersion();
        if (handed != null) {
            answers.send(from, question.handedOver(commitVersion, handed.changes));
            handed.isSent = true;
            handed.sentNs = nowNs;
            return true;
        }
        final long[] versions = replica.tail().versionsAbove(Math.max(question.argument(), commitVersion));
        final int count = Math.min(versions.length, CollectedAnswer.MOST_VERSIONS);
        final ByteBuffer payload = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            payload.putLong(i * Long.BYTES, versions[i]);
        }
        answers.send(from, question.collected(commitVersion, payload));
        return true;
    }

    /**
     * A shard has left this server: all that it has sent is everywhere, and covered by CommitVer here. The new primary of
     * this epoch is the first to open it since; that of a later epoch may not be. Followed by {@link #doWork}.
     */
    void left(int shard, Roles roles) {
        left.put(
                shard,
                new Left(
                        roles.epoch(shard),
                        roles.configuration().shard(shard).primary(),
                        replicas.get(shard).changes().handOver(HandedChanges.MOST_BYTES)));
    }

    /** What this server has kept of the shard since it left, if it is to open it in the epoch after that; else null. */
    @Nullable
    Left takeLeft(int shard, int epoch) {
        final Left kept = left.get(shard);
        if (kept == null || kept.epoch + 1 != epoch) {
            return null;
        }
        left.remove(shard);
        return kept;
    }

    /** Whether the next primary of a shard may still lack its change stream: it would ask again, had that been lost. */
    boolean owesChanges(long nowNs) {
        return left.values().stream()
                .anyMatch(each -> each.changes != null && (!each.isSent || nowNs - each.sentNs < STREAM_LOST_NS));
    }

    private void fetch(int from, OpeningMessage question, Configuration prepared) {
        if (isToAnswer(from, question, prepared)) {
            final ByteBuffer entry = entries.copyOf(replicas.get(question.shard()), question.argument());
            if (entry != null) {
                answers.send(from, question.fetched(entry));
            }
        }
    }
}
