package org.rowankv.server.engine;

import java.util.function.Consumer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.shard.ShardSessions;

/**
 * Settings of one server's engine.
 *
 * @param workers worker contexts, each with its own log and connections
 * @param mutationsPerWorker mutations in flight at once in each, for event loops; a waiting caller has a worker of its
 * own
 * @param postedAhead segments kept posted in the backup log beside the current one
 * @param leasedSegments segments leased to senders, or kept for them, at most
 * @param cleanerReserve free segments reserved for the cleaner
 * @param cleanLowWater low watermark: free segments at which cleaning never pauses
 * @param cleanHighWater high watermark: free segments from which on none is cleaned
 * @param fillPercent share of the area's segments, without the reserved ones, for live entries
 * @param holeTimeoutNs how long a sender may leave a reservation in a backup log unfinished before it is fenced
 * @param copyBytesPerSecond maximum rate of copies to joining replicas
 * @param verifyReads whether every read checks the entry's checksums
 * @param scrubBytesPerSecond maximum scrub rate of committed segments; 0: no scrubbing
 * @param sessionLeaseNs how long a client's session stays open without a request; 0: forever
 * @param minReplicas complete replicas, the primary's among them, without which a shard takes no mutation of a client
 * @param counters initial values of counters; not the default in tests only
 */
public record ServerSettings(
        int workers,
        int mutationsPerWorker,
        int postedAhead,
        int leasedSegments,
        int cleanerReserve,
        int cleanLowWater,
        int cleanHighWater,
        int fillPercent,
        long holeTimeoutNs,
        long copyBytesPerSecond,
        boolean verifyReads,
        long scrubBytesPerSecond,
        long sessionLeaseNs,
        int minReplicas,
        CounterStarts counters) {
    private static final long COPY_BYTES_PER_SECOND = 128L << 20;
    /** Sessions take at most one in this many parts of the space for entries, which is reserved for them. */
    private static final int SESSION_PARTS = 16;

    private static final int MOST_SESSIONS_PER_TABLE = 256;
    /** Length of the entry that opens a session. */
    private static final int SESSION_BYTES = FrameDescriptor.STRIDE;

    /** Settings for an area with that many segments, with changes. */
    public static ServerSettings of(int segmentCount, int workers, boolean hasBackupLog, Consumer<Builder> change) {
        final Builder builder = new Builder(segmentCount, workers, hasBackupLog);
        change.accept(builder);
        return builder.build();
    }

    /** Values to change, named as in the settings; each starts with its default. */
    public static final class Builder {
        private final int workers;
        public int mutationsPerWorker = 1;
        public int postedAhead;
        public int leasedSegments;
        public int cleanerReserve = 2;
        public int cleanLowWater;
        public int cleanHighWater;
        public int fillPercent = 88;
        public long holeTimeoutNs = 1_000_000_000L;
        public long copyBytesPerSecond = COPY_BYTES_PER_SECOND;
        public boolean verifyReads;
        public long scrubBytesPerSecond;
        public long sessionLeaseNs;
        public int minReplicas = 1;
        public CounterStarts counters = CounterStarts.USUAL;

        private Builder(int segmentCount, int workers, boolean hasBackupLog) {
            this.workers = workers;
            this.postedAhead = hasBackupLog ? Math.max(2, Math.min(8, segmentCount / 32)) : 0;
            this.cleanLowWater = cleanerReserve + 2 + segmentCount / 64;
            this.cleanHighWater = cleanLowWater + 1 + segmentCount / 64;
        }

        private ServerSettings build() {
            return new ServerSettings(
                    workers,
                    mutationsPerWorker,
                    postedAhead,
                    leasedSegments,
                    cleanerReserve,
                    cleanLowWater,
                    cleanHighWater,
                    fillPercent,
                    holeTimeoutNs,
                    copyBytesPerSecond,
                    verifyReads,
                    scrubBytesPerSecond,
                    sessionLeaseNs,
                    minReplicas,
                    counters);
        }
    }

    /** Segments that never hold live data: open logs, posted segments, the needs of cleaning. */
    public int reservedSegments() {
        // With several mutations in flight a full log is closed after the next has been opened.
        return (mutationsPerWorker > 1 ? 2 : 1) * workers + 2 * postedAhead + leasedSegments + cleanerReserve + 5;
    }

    /** The minimum number of segments: the reserved ones, and as many for data, so that the cleaner has a choice. */
    public static int minimumSegments(int workers, int mutationsPerWorker, boolean hasBackupLog) {
        return minimumSegments(workers, mutationsPerWorker, hasBackupLog, 0);
    }

    /** As above, with so many leased to senders. */
    public static int minimumSegments(int workers, int mutationsPerWorker, boolean hasBackupLog, int leasedSegments) {
        final ServerSettings least = of(1, workers, hasBackupLog, with -> {
            with.mutationsPerWorker = mutationsPerWorker;
            with.leasedSegments = leasedSegments;
        });
        return 2 * least.reservedSegments();
    }

    /**
     * Bytes for live entries, without the reserve for openings of sessions.
     *
     * @param replicas of shards that one server holds, at most
     */
    public long spaceLimit(int segmentCount, int segmentLength, int replicas) {
        return liveBytes(segmentCount, segmentLength) - sessionReserve(segmentCount, segmentLength, replicas);
    }

    private long liveBytes(int segmentCount, int segmentLength) {
        return (long) (segmentCount - reservedSegments()) * segmentLength * fillPercent / 100;
    }

    /**
     * Bytes that openings of sessions may take beyond the limit, so that a full store can still open sessions. Equal on
     * all servers of one shape, so each backup reserves what its primaries may open.
     */
    public long sessionReserve(int segmentCount, int segmentLength, int replicas) {
        return sessionBytesPerEach(replicas) * sessionsPerTable(segmentCount, segmentLength, replicas);
    }

    private static long sessionBytesPerEach(int replicas) {
        return (long) SESSION_BYTES * ShardSessions.TABLES * replicas;
    }

    /** Sessions that may be open in each table of a shard's replica, ≥ 1. */
    public int sessionsPerTable(int segmentCount, int segmentLength, int replicas) {
        final long most = liveBytes(segmentCount, segmentLength) / SESSION_PARTS / sessionBytesPerEach(replicas);
        return (int) Math.max(1, Math.min(MOST_SESSIONS_PER_TABLE, most));
    }

    /**
     * In-flight window of one worker: bytes that it may write before it waits for other workers in flight. Two windows
     * of all workers of all other servers fit into the space that a full store leaves free. They count twice, since
     * large entries land as blocks and are assembled.
     */
    long bytesPerWindow(int segmentCount, int segmentLength, int servers) {
        final long spare = (long) (segmentCount - reservedSegments()) * segmentLength * (100 - fillPercent) / 100;
        return spare / (4L * (servers - 1) * (workers + 1));
    }
}
