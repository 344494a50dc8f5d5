package org.rowankv.server.opening;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the shards whose new primary this server is, and answers the new primaries of others, while all other shards
 * are served. Shares its thread with the digest, behind it in the duty cycle.
 *
 * <p>The order at each server, for a configuration: fence what it excludes, {@link #prepared}; then, when all servers
 * have done so, its roles are put in force, then {@link #open}. An opening waits for every other replica of its shard:
 * if one of those is excluded meanwhile, the {@code open} of that later configuration takes its place.
 */
public final class OpeningAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(OpeningAgent.class);
    private static final long SAY_EVERY_NS = 3_000_000_000L;
    /** Messages that wait for the agent; more are dropped, since questions are repeated. */
    private static final int MOST_RECEIVED = 4_096;

    /** Creates a shard's primary, whose versions begin with an epoch. */
    @FunctionalInterface
    public interface PrimaryFactory {
        ShardPrimary primaryOf(ShardReplica replica, int epoch);
    }

    /** The epoch of an opening that other roles have ended, and the change stream if it has received one. */
    private record Carried(int epoch, ShardChanges.@Nullable Handed changes) {}

    private record Received(int from, OpeningMessage message) {}

    private record Requested(Configuration committed, int shard) {}

    private final int serverId;
    private final CurrentRoles current;
    private final Replicas replicas;
    private final Segments segments;
    private final DigestAgent digest;
    private final TailEntries entries;
    private final CollectedReplicas collected;
    private final LeavingShards leaving;
    private final Supplier<BackupConnections> connections;
    private final int maxMessage;
    private final PrimaryFactory primaries;
    private final Clock clock;
    private final ErrorLog errors;
    private final Runnable wakeUp;
    private final ShardOpening.Surroundings around = new Around();

    private volatile OpeningTransport transport = (server, message) -> {};
    private volatile OpeningListener listener = (shard, epoch) -> {};
    private volatile Configuration prepared;
    private final Queue<Requested> requested = new ConcurrentLinkedQueue<>();
    private final Queue<Received> received = new ConcurrentLinkedQueue<>();
    private final AtomicInteger receivedCount = new AtomicInteger();

    private final Map<Integer, ShardOpening> openings = new TreeMap<>();
    private final Map<Integer, Carried> carried = new TreeMap<>();
    private final Map<Integer, ScatterTarget> targets = new TreeMap<>();
    /** Replicas of opened shards whose tails CommitVer has not passed yet. */
    private final List<ShardReplica> toTrim = new ArrayList<>();

    private boolean isRetired = true;
    private int openedShards;
    private int fetchedEntries;
    private long beganNs;
    private long saidNs;

    /**
     * @param completeAbandoned completes what dead callers have begun
     * @param connections creates connections to the backups for this agent
     * @param wakeUp wakes this agent's thread
     */
    @SuppressWarnings("TooManyParameters")
    public OpeningAgent(
            int serverId,
            CurrentRoles current,
            Replicas replicas,
            Segments segments,
            DigestAgent digest,
            InFlightWindow inFlightWindow,
            Runnable completeAbandoned,
            Supplier<BackupConnections> connections,
            int maxMessage,
            PrimaryFactory primaries,
            Clock clock,
            ErrorLog errors,
            Runnable wakeUp) {
        this.serverId = serverId;
        this.current = current;
        this.replicas = replicas;
        this.segments = segments;
        this.digest = digest;
        this.entries = new TailEntries(segments);
        this.collected =
                new CollectedReplicas(serverId, replicas, digest, entries, (to, answer) -> transport.send(to, answer));
        this.leaving = new LeavingShards(current, inFlightWindow, completeAbandoned, collected);
        this.connections = connections;
        this.maxMessage = maxMessage;
        this.primaries = primaries;
        this.clock = clock;
        this.errors = errors;
        this.wakeUp = wakeUp;
        this.prepared = current.get().configuration();
    }

    /** Sets the way to other servers. Before the first {@link #prepared}. */
    public void use(OpeningTransport newTransport) {
        transport = newTransport;
    }

    /** Sets what learns of opened shards. */
    public void report(OpeningListener newListener) {
        listener = newListener;
    }

    /**
     * This server has prepared a configuration: nothing of the servers that it excludes lands here any more. Any thread;
     * an earlier configuration has no effect.
     */
    public void prepared(Configuration next) {
        synchronized (this) {
            if (next.term() > prepared.term()) {
                prepared = next;
            }
        }
        wakeUp.run();
    }

    /**
     * Opens a shard whose primary this server is in a configuration that was committed: every replica has prepared it, or
     * will, and its roles are in force here, or will be. Any thread. May be repeated.
     */
    public void open(Configuration committed, int shard) {
        if (committed.shard(shard).primary() != serverId) {
            throw new IllegalArgumentException(
                    "server " + serverId + " is not the primary of shard " + shard + " in term " + committed.term());
        }
        requested.add(new Requested(committed, shard));
        wakeUp.run();
    }

    /** Roles are in force by which shards may leave this server. Any thread. */
    public void leave() {
        leaving.look();
        wakeUp.run();
    }

    /**
     * Whether a shard has left this server and its next primary may still lack its change stream: then this server must
     * stay a replica of it. Any thread.
     */
    public boolean owesChanges() {
        return leaving.oweChanges();
    }

    /**
     * A message has arrived. Any thread.
     *
     * @param from the sender, which the caller has verified: a server that holds roles, with its present incarnation
     */
    public void received(int from, OpeningMessage message) {
        if (receivedCount.incrementAndGet() > MOST_RECEIVED) {
            receivedCount.decrementAndGet();
            return;
        }
        received.add(new Received(from, message));
        wakeUp.run();
    }

    @Override
    public String toString() {
        return openings.values().toString() + " requested " + requested.size() + " received " + received.size();
    }

    @Override
    public String roleName() {
        return "opening";
    }

    /** Whether a shard is being opened, or an answer is due. For the agents of its server. */
    public boolean isAtWork() {
        return !openings.isEmpty()
                || !requested.isEmpty()
                || !received.isEmpty()
                || !collected.isIdle()
                || !toTrim.isEmpty()
                || !isRetired
                || !leaving.isIdle();
    }

    @Override
    public int doWork() {
        final Roles roles = current.get();
        if (!carried.isEmpty()) {
            carried.entrySet().removeIf(each -> isPast(each.getKey(), each.getValue().epoch, roles));
        }
        collected.forgetPast(roles);
        if (!isAtWork()) {
            return 0;
        }
        final long nowNs = clock.nanoTime();
        int work = begin(nowNs) + receive() + leaving.doWork(listener);
        work += collected.doWork(prepared, current.get(), nowNs);
        leaving.answered(nowNs);
        work += advance(roles, nowNs);
        for (ScatterTarget target : targets.values()) {
            work += target.doWork();
        }
        work += openComplete();
        trim();
        if (openings.isEmpty()) {
            end(nowNs);
        } else {
            say(nowNs);
        }
        return work;
    }

    private int begin(long nowNs) {
        int begun = 0;
        for (Requested next = requested.poll(); next != null; next = requested.poll()) {
            final ShardAssignment assignment = next.committed.shard(next.shard);
            final ShardOpening present = openings.get(next.shard);
            if (present != null && present.term() >= next.committed.term()
                    || present != null && present.epoch() == assignment.epoch()
                    || isOpen(next.shard, assignment.epoch())) {
                continue;
            }
            if (replicas.get(next.shard).isJoining()) {
                throw new AssertionError("shard " + next.shard + " is not complete on server " + serverId
                        + ", which term " + next.committed.term() + " makes its primary");
            }
            if (present != null) {
                giveUp(present);
            }
            if (openings.isEmpty()) {
                beganNs = nowNs;
                saidNs = nowNs;
            }
            final ShardOpening opening =
                    new ShardOpening(around, replicas.get(next.shard), next.committed.term(), assignment);
            final Carried before = carried.remove(next.shard);
            if (before != null && before.epoch + 1 == assignment.epoch()) {
                opening.goOnFrom(before.epoch, before.changes);
            }
            final CollectedReplicas.Left own = collected.takeLeft(next.shard, assignment.epoch());
            if (own != null) {
                opening.comesBack(own.next(), own.stream());
            }
            openings.put(next.shard, opening);
            isRetired = false;
            begun++;
        }
        return begun;
    }

    /** Whether the epoch after that one is not this server's to open. */
    private boolean isPast(int shard, int epoch, Roles roles) {
        return roles.epoch(shard) > epoch + 1 || roles.epoch(shard) > epoch && !roles.isUnopened(shard);
    }

    /**
     * Other roles have ended an opening. What it received of a change stream is still whole if this server is the primary
     * of the next epoch: nothing was written in this one.
     */
    private void giveUp(ShardOpening opening) {
        opening.end();
        carried.put(opening.shard(), new Carried(opening.epoch(), opening.changes()));
    }

    private boolean isOpen(int shard, int epoch) {
        final Roles now = current.get();
        return now.find(shard) != null && now.epoch(shard) >= epoch;
    }

    private int receive() {
        int count = 0;
        for (Received next = received.poll(); next != null; next = received.poll()) {
            receivedCount.decrementAndGet();
            final OpeningMessage message = next.message;
            count++;
            if (message.isQuestion()) {
                collected.asked(next.from, message, prepared);
                continue;
            }
            final ShardOpening opening = openings.get(message.shard());
            if (opening == null || opening.epoch() != message.epoch()) {
                if (opening != null) {
                    opening.lateChanges(next.from, message);
                }
                continue; // of an earlier opening
            }
            if (message.kind() == OpeningMessage.HANDED_OVER) {
                opening.handedOver(next.from, message);
            } else if (message.kind() == OpeningMessage.COLLECTED) {
                opening.collected(next.from, message);
            } else {
                opening.fetched(next.from, message, segments.length());
            }
        }
        return count;
    }

    private int advance(Roles roles, long nowNs) {
        final Configuration known = prepared;
        int work = 0;
        final Iterator<ShardOpening> each = openings.values().iterator();
        while (each.hasNext()) {
            final ShardOpening opening = each.next();
            if (roles.term() >= opening.term() && !isInForce(opening, roles)) {
                giveUp(opening); // other replicas have the shard now: another call of open follows, here or there
                each.remove();
                work++;
            } else {
                work += opening.advance(isInForce(opening, roles) && known.term() >= opening.term(), nowNs);
            }
        }
        return work;
    }

    private boolean isInForce(ShardOpening opening, Roles roles) {
        return roles.term() >= opening.term()
                && roles.epoch(opening.shard()) == opening.epoch()
                && roles.isUnopened(opening.shard());
    }

    /** What all replicas hold now is theirs for good: the shard's own CommitVer covers it from here on. */
    private int openComplete() {
        int opened = 0;
        final Iterator<ShardOpening> each = openings.values().iterator();
        while (each.hasNext()) {
            final ShardOpening opening = each.next();
            if (!opening.isComplete()) {
                continue;
            }
            each.remove();
            opening.end();
            Chaos.point("opening.complete");
            final ShardReplica replica = opening.replica();
            final ShardPrimary primary = primaries.primaryOf(replica, opening.epoch());
            replica.beginChanges();
            final ShardChanges.Handed handed = opening.changes();
            if (handed != null) {
                replica.changes().continueFrom(handed);
            }
            if (current.open(opening.epoch(), primary)) {
                Chaos.point("opening.opened");
                digest.openedHere(replica.shardId(), opening.epoch());
                toTrim.add(replica);
                openedShards++;
                fetchedEntries += opening.fetched();
                opened++;
                listener.opened(replica.shardId(), opening.epoch());
            } else {
                giveUp(opening);
            }
        }
        return opened;
    }

    private void trim() {
        toTrim.removeIf(replica -> {
            replica.tail().trim(replica.commitVersion());
            return replica.tail().size() == 0;
        });
    }

    /** No shard is being opened: releases what only openings need. */
    private void end(long nowNs) {
        if (isRetired || !targets.values().stream().allMatch(ScatterTarget::isIdle)) {
            return;
        }
        long sent = 0;
        for (ScatterTarget target : targets.values()) {
            sent += target.sent();
            target.close();
        }
        targets.clear();
        entries.retire();
        isRetired = true;
        if (openedShards > 0) {
            LOG.info(
                    "shards opened: server={} count={} term={} fetched={} scattered={} ms={}",
                    serverId,
                    openedShards,
                    current.get().term(),
                    fetchedEntries,
                    sent,
                    (nowNs - beganNs) / 1_000_000);
        }
        openedShards = 0;
        fetchedEntries = 0;
    }

    private void say(long nowNs) {
        if (nowNs - saidNs < SAY_EVERY_NS) {
            return;
        }
        saidNs = nowNs;
        final Set<Integer> awaited = new TreeSet<>();
        openings.values().forEach(opening -> awaited.addAll(opening.awaited()));
        LOG.info("shards not open yet: server={} shards={} waitingForServers={}", serverId, openings.keySet(), awaited);
    }

    private final class Around implements ShardOpening.Surroundings {
        @Override
        public DigestAgent digest() {
            return digest;
        }

        @Override
        public TailEntries entries() {
            return entries;
        }

        @Override
        public void ask(int server, OpeningMessage question) {
            transport.send(server, question);
        }

        @Override
        public ScatterTarget target(int server) {
            return targets.computeIfAbsent(
                    server,
                    one -> new ScatterTarget(one, entries, connections, current, maxMessage, segments.length()));
        }

        @Override
        public boolean isSending(int shard) {
            for (ScatterTarget target : targets.values()) {
                if (target.isSending(shard)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void impossible(int server, int shard, String reason) {
            errors.report(
                    "opening a shard",
                    new IllegalStateException(
                            "the answer of server " + server + " about shard " + shard + " is impossible: " + reason));
        }
    }

    @Override
    public void onClose() {
        targets.values().forEach(ScatterTarget::close);
        entries.retire();
    }
}
