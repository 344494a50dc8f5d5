package org.rowankv.server.snapshot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.CutReader;
import org.rowankv.server.log.SegmentPins;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

/**
 * A consistent snapshot of a running store, for readers of its logs: a version of each shard and, on each server, the
 * pinned segments with everything up to those versions. Writers continue meanwhile.
 *
 * <p>Why it is consistent: first freeing stops on all servers (a segment being cleaned is finished before). So anything
 * missing in a log was ended by an entry that is there or by an older one. Then the last assigned version of each shard
 * is recorded. Everything acknowledged before is at most that; everything that begins later is greater. Once everything
 * up to it has taken effect on all in-sync replicas, the segments in use suffice. Later ones hold later entries, or
 * copies of entries whose originals are pinned.
 *
 * <p>For one thread that is not an application's.
 */
public final class ConsistentCut implements AutoCloseable {
    private static final long PARK_NS = 20_000;
    /** Interval between requests to recompute CommitVer. */
    private static final long HURRY_NS = 2_000_000;

    private static final int MOST_TRIES = 50;

    private final Configuration configuration;
    private final List<Server> servers;
    private final Clock clock;
    private final BooleanSupplier closing;
    private final List<BitSet> used = new ArrayList<>();
    private final long[] versions;

    private ConsistentCut(Configuration configuration, List<Server> servers, Clock clock, BooleanSupplier closing) {
        this.configuration = configuration;
        this.servers = servers;
        this.clock = clock;
        this.closing = closing;
        this.versions = new long[configuration.shardCount()];
    }

    /**
     * Pins the needed segments, and waits until the snapshot is complete: some milliseconds without freeing anywhere.
     * If writers use up the free segments in that time, it starts again.
     *
     * @param closing whether the store is being closed
     * @param noted runs at the snapshot itself, to record what is stored outside the logs; its last run counts
     * @throws StoreOpenException if the store is stopped, closed, or so full that writers could not proceed
     */
    public static ConsistentCut take(
            Configuration configuration,
            List<Server> servers,
            Clock clock,
            Scheduling scheduling,
            BooleanSupplier closing,
            Runnable noted) {
        for (int tries = 1; ; tries++) {
            final long beganNs = clock.nanoTime();
            final ConsistentCut cut = new ConsistentCut(configuration, servers, clock, closing);
            if (cut.tryToTake(scheduling, noted)) {
                return cut;
            }
            if (tries == MOST_TRIES) {
                throw new StoreOpenException(
                        "writes are so many, and free segments so few, that no moment was found at which"
                                + " the store could be read as a whole: writes go first. Try again when less is written, or with a"
                                + " larger capacity");
            }
            cut.leaveAlone(scheduling, clock.nanoTime() - beganNs);
        }
    }

    /**
     * Leaves everything unpinned for as long as the attempt has lasted. Otherwise the cleaners would free nothing
     * between two attempts, and writers would wait for the last one.
     */
    private void leaveAlone(Scheduling scheduling, long durationNs) {
        final long beganNs = clock.nanoTime();
        while (clock.nanoTime() - beganNs < durationNs) {
            servers.forEach(this::requireGoing);
            servers.forEach(Server::wakeUp);
            scheduling.park(PARK_NS);
        }
    }

    private boolean tryToTake(Scheduling scheduling, Runnable noted) {
        boolean taken = false;
        int pinnedOn = 0;
        try {
            for (; pinnedOn < servers.size(); pinnedOn++) {
                final Server server = servers.get(pinnedOn);
                pins(server).pinAll(server.clock().nanoTime());
            }
            if (!await(scheduling, () -> servers.stream().noneMatch(Server::isRelocating))) {
                return false;
            }
            servers.forEach(server -> pins(server).hold());
            for (int shard = 0; shard < versions.length; shard++) {
                final Server primary = servers.get(configuration.shard(shard).primary());
                if (!primary.isPrimary(shard)) {
                    throw new StoreOpenException("the primary of shard " + shard + " is moving: try again");
                }
                versions[shard] = primary.lastVersion(shard);
            }
            noted.run();
            if (!await(scheduling, this::isSettled)) {
                return false;
            }
            for (Server server : servers) {
                final BitSet inUse = new BitSet();
                for (int s = 0; s < server.segments().count(); s++) {
                    inUse.set(s, server.segments().generation(s) != 0);
                }
                pins(server).keep(inUse, server.clock().nanoTime());
                used.add(inUse);
            }
            // Checked last: segments unpinned before may have been freed.
            taken = servers.stream().noneMatch(server -> pins(server).isGivenUp());
            return taken;
        } finally {
            if (!taken) {
                servers.subList(0, pinnedOn).forEach(server -> pins(server).releaseAll());
            }
        }
    }

    private static SegmentPins pins(Server server) {
        return server.segments().pins();
    }

    /** False when the pins were revoked meanwhile. */
    private boolean await(Scheduling scheduling, BooleanSupplier condition) {
        final long sinceNs = clock.nanoTime();
        long hurriedNs = sinceNs - HURRY_NS;
        while (!condition.getAsBoolean()) {
            final long nowNs = clock.nanoTime();
            if (servers.stream().anyMatch(server -> pins(server).isGivenUp())) {
                return false;
            }
            servers.forEach(this::requireGoing);
            if (nowNs - sinceNs > SegmentPins.PATIENCE_NS) {
                throw new StoreOpenException(
                        "some writes do not reach all replicas, see the error log for the reason; nothing was"
                                + " read. Try again when writes go on");
            }
            if (nowNs - hurriedNs >= HURRY_NS) {
                servers.forEach(Server::hurryCommit);
                hurriedNs = nowNs;
            }
            servers.forEach(Server::wakeUp);
            scheduling.park(PARK_NS);
        }
        return true;
    }

    private boolean isSettled() {
        for (Server server : servers) {
            for (ShardReplica replica : server.replicas().all()) {
                if (!replica.isJoining() && replica.versions().settled() < versions[replica.shardId()]) {
                    return false;
                }
            }
        }
        return true;
    }

    private void requireGoing(Server server) {
        if (closing.getAsBoolean()) {
            throw new StoreOpenException("the store is being closed; nothing was changed. Read it when it is closed");
        }
        if (server.isStopped()) {
            throw new StoreOpenException("server " + server.serverId()
                    + " has stopped, see the error log for the reason: close the store, and read it closed");
        }
    }

    /** Throws unless everything read so far from a server's pinned segments belongs to the snapshot. */
    void requireHeld(Server server) {
        requireGoing(server);
        if (pins(server).isGivenUp()) {
            throw new StoreOpenException(
                    "server " + server.serverId() + " needed the segments that were being read, since"
                            + " its area is nearly full and the reader did not get on: writes go first. Try again with a faster"
                            + " target, when less is written, or with a larger capacity");
        }
    }

    /** By shard, the snapshot version: everything up to it belongs to the snapshot, and nothing after it. */
    List<Long> versions() {
        return Arrays.stream(versions).boxed().toList();
    }

    Configuration configuration() {
        return configuration;
    }

    CutReader reader(Server server) {
        return new CutReader(server.segments(), versions);
    }

    /** The pinned segments of a server, the cleaner's preferred victims first. */
    List<Integer> segments(Server server) {
        final Segments segments = server.segments();
        final List<Integer> inOrder = new ArrayList<>();
        used.get(server.serverId()).stream().forEach(inOrder::add);
        final long[] live = new long[segments.count()];
        for (int s : inOrder) {
            final int bytes = segments.liveBytes(s, 0);
            live[s] = bytes < 0 ? Long.MAX_VALUE : bytes; // an open segment is no victim
        }
        inOrder.sort((a, b) -> Long.compare(live[a], live[b]));
        return inOrder;
    }

    /** Releases a segment that was read to its end and belonged to the snapshot. */
    void release(Server server, int segment) {
        requireHeld(server);
        pins(server).release(segment, server.clock().nanoTime());
    }

    @Override
    public void close() {
        servers.forEach(server -> pins(server).releaseAll());
        servers.forEach(Server::wakeUp);
    }
}
