package org.rowankv.server.engine;

import java.util.function.Consumer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.shard.ShardSessions;

/**
 * Process values of one server.
 *
 * @param workers worker contexts, each with a log and connections of its own
 * @param mutationsPerWorker mutations under way at once in each, for event loops; who waits for his request has a worker for it alone
 * @param postedAhead segments kept posted in the backup log beside the one being filled
 * @param cleanerReserve free segments that only the cleaner may take
 * @param cleanLowWater free segments at which cleaning never rests
 * @param cleanHighWater free segments from which on none is cleaned
 * @param fillPercent share of the area's segments, without the reserved ones, that live entries may take
 * @param holeTimeoutNs how long a sender may leave a reservation in a backup log unfinished before it is cut off
 * @param copyBytesPerSecond that are sent at most to replicas which have lost what they held
 * @param verifyReads whether every read checks the entry's checksums
 * @param scrubBytesPerSecond how fast committed segments are read again, at most; 0: not at all
 * @param sessionLeaseNs how long a client's session is kept without a request of it; 0: for ever
 * @param counters where counters begin; not the usual values in tests only
 */
public record ServerSettings(
        int workers,
        int mutationsPerWorker,
        int postedAhead,
        int cleanerReserve,
        int cleanLowWater,
        int cleanHighWater,
        int fillPercent,
        long holeTimeoutNs,
        long copyBytesPerSecond,
        boolean verifyReads,
        long scrubBytesPerSecond,
        long sessionLeaseNs,
        CounterStarts counters) {
    private static final long COPY_BYTES_PER_SECOND = 128L << 20;
    /** Of what entries may take, sessions get at most one part, which is kept for them. */
    private static final int SESSION_PARTS = 16;

    private static final int MOST_SESSIONS_PER_TABLE = 256;
    /** Of the entry that opens a session. */
    private static final int SESSION_BYTES = FrameDescriptor.STRIDE;

    /** Settings for an area of so many segments, some of them changed. */
    public static ServerSettings of(int segmentCount, int workers, boolean hasBackupLog, Consumer<Builder> change) {
        final Builder builder = new Builder(segmentCount, workers, hasBackupLog);
        change.accept(builder);
        return builder.build();
    }

    /** Values to change, named as in the settings; each begins with its default. */
    public static final class Builder {
        private final int workers;
        public int mutationsPerWorker = 1;
        public int postedAhead;
        public int cleanerReserve = 2;
        public int cleanLowWater;
        public int cleanHighWater;
        public int fillPercent = 88;
        public long holeTimeoutNs = 1_000_000_000L;
        public long copyBytesPerSecond = COPY_BYTES_PER_SECOND;
        public boolean verifyReads;
        public long scrubBytesPerSecond;
        public long sessionLeaseNs;
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
                    cleanerReserve,
                    cleanLowWater,
                    cleanHighWater,
                    fillPercent,
                    holeTimeoutNs,
                    copyBytesPerSecond,
                    verifyReads,
                    scrubBytesPerSecond,
                    sessionLeaseNs,
                    counters);
        }
    }

    /** Segments that hold no live data for good: open logs, posted segments, what cleaning needs. */
    public int reservedSegments() {
        // With several mutations under way a log that is full is closed after the next has been opened.
        return (mutationsPerWorker > 1 ? 2 : 1) * workers + 2 * postedAhead + cleanerReserve + 5;
    }

    /**
     * The smallest number of segments with which a server works: what is reserved, and as much again for data, so that
     * cleaning has something to choose from.
     */
    public static int minimumSegments(int workers, int mutationsPerWorker, boolean hasBackupLog) {
        return 2
                * of(1, workers, hasBackupLog, with -> with.mutationsPerWorker = mutationsPerWorker)
                        .reservedSegments();
    }

    /**
     * Bytes that live entries may take without those that openings of sessions may take besides.
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
     * Bytes that openings of sessions may take beyond the limit: so a session can be opened when the store is full. The same on
     * all servers of one shape, so each backup keeps what its primaries may open.
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
     * Bytes that each worker of a server writes at most before it waits for others that are in flight. What all workers of all
     * other servers write in two laps, twice, since large entries land as blocks and are put together, fits into what a
     * full store leaves free.
     */
    long bytesPerLap(int segmentCount, int segmentLength, int servers) {
        final long spare = (long) (segmentCount - reservedSegments()) * segmentLength * (100 - fillPercent) / 100;
        return spare / (4L * (servers - 1) * (workers + 1));
    }
}
