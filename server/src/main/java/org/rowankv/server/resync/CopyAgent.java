package org.rowankv.server.resync;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.resync.CopyProgress.Phase;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Re-replication (§4.5 of the paper): the primary sends a replica that is catching up what it lacks of a shard, through
 * Rowan into that server's backup log, where it is digested like everything else. At a bounded rate for all, which
 * {@linkplain CopyPace yields} to clients, and for each server apart, so that none waits for another.
 *
 * <p>It follows the roles in force: a copy begins when they name a joining backup that has not received one from here,
 * and stops when they name it no more, or as another incarnation.
 */
public final class CopyAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(CopyAgent.class);
    private static final int BYTES_PER_TURN = 128 << 10;
    private static final int ENTRIES_PER_TURN = 256;
    private static final int BURSTS_PER_SECOND = 10;
    private static final long SAY_EVERY_NS = 3_000_000_000L;
    /** So long after the last progress it counts as busy: a server that does not answer must not keep agents awake. */
    private static final long BUSY_NS = 1_000_000_000L;

    private final int serverId;
    private final CurrentRoles current;
    /** Those by which it copies. */
    private Roles roles;

    private final Segments segments;
    private final Supplier<BackupConnections> connections;
    private final InFlightWindow inFlight;
    /** Completes mutations whose callers are gone: no copy begins before they end. */
    private final Runnable completeAbandoned;

    private final int maxMessage;
    private final CopyListener listener;
    private final Clock clock;
    private final CopyPace pace;

    private final List<TargetCopy> targets = new CopyOnWriteArrayList<>();
    private int turns;
    private long allowance;
    private long allowedNs;
    private long beganNs;
    private long saidNs;
    private long progressNs;
    private boolean busy;
    private final OwnedCounter entries = new OwnedCounter();
    private final OwnedCounter bytes = new OwnedCounter();

    /**
     * @param connections makes connections for this agent alone, one set per joining server
     * @param inFlight the versions that are not finished
     * @param completeAbandoned helps those whose callers are gone
     * @param bytesPerSecond maximum copy rate
     */
    @SuppressWarnings("TooManyParameters")
    public CopyAgent(
            int serverId,
            CurrentRoles current,
            Segments segments,
            Supplier<BackupConnections> connections,
            InFlightWindow inFlight,
            Runnable completeAbandoned,
            int maxMessage,
            CopyListener listener,
            Clock clock,
            long bytesPerSecond) {
        this.serverId = serverId;
        this.current = current;
        this.roles = current.get();
        this.connections = connections;
        this.inFlight = inFlight;
        this.completeAbandoned = completeAbandoned;
        this.maxMessage = maxMessage;
        this.segments = segments;
        this.listener = listener;
        this.clock = clock;
        this.pace = new CopyPace(bytesPerSecond);
        this.allowedNs = clock.nanoTime();
        takeUp(roles);
    }

    /** From now on copies hinder clients' writes little, which take those times. */
    public void yieldTo(WriteTimes times) {
        pace.yieldTo(times);
    }

    private void takeUp(Roles next) {
        final boolean wasDone = isDone();
        for (TargetCopy target : targets) {
            if (target.isFor(next)) {
                target.takeUp(next);
            } else {
                end(target);
            }
        }
        for (ShardPrimary primary : next.primaries()) {
            for (int server : next.joining(primary.replica().shardId())) {
                if (targets.stream().noneMatch(target -> target.server() == server)) {
                    targets.add(begin(server, next));
                }
            }
        }
        for (TargetCopy target : targets) {
            if (target.shards().isEmpty()) {
                end(target);
            }
        }
        roles = next;
        if (wasDone) {
            beganNs = clock.nanoTime();
            saidNs = beganNs;
            progressNs = beganNs;
        }
    }

    private TargetCopy begin(int server, Roles next) {
        final TargetCopy begun = new TargetCopy(
                server,
                current,
                next,
                segments,
                inFlight,
                listener,
                new CopyWindow(connections.get(), current, server, maxMessage, segments.length()));
        begun.takeUp(next);
        return begun;
    }

    private void end(TargetCopy target) {
        targets.remove(target);
        target.close();
    }

    @Override
    public String roleName() {
        return "copy";
    }

    @Override
    public int doWork() {
        if (current.get() != roles) {
            takeUp(current.get());
        }
        if (targets.isEmpty() || isDone()) {
            pace.rest();
            busy = false;
            return 0;
        }
        final long nowNs = clock.nanoTime();
        allow(nowNs);
        int done = 0;
        turns = (turns + 1) % targets.size();
        for (int i = 0; i < targets.size(); i++) {
            // Each is the first in turn: it may use up the allowance.
            final TargetCopy target = targets.get((turns + i) % targets.size());
            done += target.turn(ENTRIES_PER_TURN, Math.min(BYTES_PER_TURN, allowance), nowNs);
            allowance -= target.sentBytes();
            entries.add(target.sentEntries());
            bytes.add(target.sentBytes());
        }
        if (done > 0) {
            progressNs = nowNs;
        } else {
            completeAbandoned.run();
        }
        busy = nowNs - progressNs < BUSY_NS;
        say(nowNs);
        return done;
    }

    private boolean isDone() {
        for (int i = 0; i < targets.size(); i++) {
            if (!targets.get(i).isDone()) {
                return false;
            }
        }
        return true;
    }

    /** The allowance of a moment expires with it. */
    private void allow(long nowNs) {
        final long bytesPerSecond = pace.bytesPerSecond(nowNs);
        final long sinceNs = Math.min(nowNs - allowedNs, 1_000_000_000L);
        final long more = sinceNs / 1000 * bytesPerSecond / 1_000_000;
        if (more > 0) {
            allowance = Math.min(allowance + more, Math.max(BYTES_PER_TURN, bytesPerSecond / BURSTS_PER_SECOND));
            allowedNs = nowNs;
        }
    }

    private void say(long nowNs) {
        final boolean isDone = isDone();
        if (!isDone && nowNs - saidNs < SAY_EVERY_NS) {
            return;
        }
        saidNs = nowNs;
        int shards = 0;
        int copied = 0;
        long present = 0;
        for (TargetCopy target : targets) {
            for (ShardCopy copy : target.shards()) {
                shards++;
                copied += copy.phase() == Phase.COPIED ? 1 : 0;
                present += copy.presentThere();
            }
        }
        LOG.info(
                "server {}: {} of {} shard(s) copied to joining servers, {} entries, {} bytes, {} there already, {} ms, at"
                        + " most {} MiB/s now{}",
                serverId,
                copied,
                shards,
                entries.get(),
                bytes.get(),
                present,
                (nowNs - beganNs) / 1_000_000,
                pace.rate() >> 20,
                busy || isDone ? "" : ", no progress for " + (nowNs - progressNs) / 1_000_000 + " ms");
    }

    /** Whether a copy goes on, so that the agents may not idle for long. For the agents of its server. */
    public boolean isBusy() {
        return busy;
    }

    /** Whether this server copies that shard to that one, as its primary in that epoch. Any thread. */
    public boolean hasBegun(int shard, int epoch, int server) {
        for (TargetCopy target : targets) {
            if (target.server() == server
                    && target.shards().stream().anyMatch(copy -> copy.shard() == shard && copy.hasBegun(epoch))) {
                return true;
            }
        }
        return false;
    }

    /** Entries sent so far. */
    public long entries() {
        return entries.get();
    }

    /** The copies to joining servers, those that are complete included until the configuration says so. Any thread. */
    public List<CopyProgress> progress() {
        final List<CopyProgress> progress = new ArrayList<>();
        for (TargetCopy target : targets) {
            target.shards().forEach(copy -> progress.add(copy.progress()));
        }
        return progress;
    }

    @Override
    public void onClose() {
        targets.forEach(TargetCopy::close);
    }
}
