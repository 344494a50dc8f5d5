package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ClusterShape;

/**
 * Settings of servers inside this JVM, checked by {@link #of}.
 *
 * @param shape of the store: servers in this JVM, each with its own area
 * @param dir directory of the areas; null: memory only, lost with the last close
 * @param capacityBytes of log per server
 * @param workers mutations in flight at once, per server
 * @param verifyReads whether every read checks the entry's checksums
 * @param scrubMibPerSecond maximum scrub rate of each server; 0: no scrubbing
 * @param acceptUnclean opens an area that the operating system may not have written completely, or that is marked as
 * incomplete
 * @param checkpointIntervalMs between two checkpoints of the indexes, for a store that outlives its close; 0: no
 * checkpoints, and existing ones are removed
 * @param acceptCopied opens a directory that is a copy of the one the store was created in
 * @param deadlineMs time limit of one wait of an operation, and of each step of the close
 */
public record EmbeddedSettings(
        ClusterShape shape,
        @Nullable Path dir,
        long capacityBytes,
        int workers,
        boolean verifyReads,
        int scrubMibPerSecond,
        long checkpointIntervalMs,
        boolean acceptUnclean,
        boolean acceptCopied,
        long deadlineMs) {
    public static final int DEFAULT_SHARDS_PER_SERVER = 16;
    public static final int DEFAULT_MAX_MESSAGE = 16 << 10;
    /** 14 GB in about an hour. */
    public static final int DEFAULT_SCRUB_MIB_PER_SECOND = 4;

    private static final int MAX_SCRUB_MIB_PER_SECOND = 1 << 20;
    public static final long DEFAULT_CHECKPOINT_INTERVAL_MS = 10_000;
    public static final long DEFAULT_DEADLINE_MS = 30_000;
    private static final long MAX_DEADLINE_MS = 1_000L * Integer.MAX_VALUE;

    /**
     * Default settings with changes.
     *
     * @throws IllegalArgumentException if the settings are invalid; the message states the limit
     */
    public static EmbeddedSettings of(Consumer<Builder> change) {
        final Builder builder = new Builder();
        change.accept(builder);
        return builder.build();
    }

    /** What the store in a directory was made with, by the settings' names; empty if no store that can be opened is there. */
    public static Map<String, Long> madeWith(Path directory) {
        return StoreDirectory.shapeIn(directory)
                .map(made -> Map.of(
                        "servers", (long) made.servers(),
                        "replicas", (long) made.replicas(),
                        "capacity", made.capacity(),
                        "shards", (long) made.shards(),
                        "segment", (long) made.segmentLength()))
                .orElse(Map.of());
    }

    /** 256 MiB per server, or less if the JVM allows less direct memory and there is no dir. */
    public static long defaultCapacity(int servers, boolean hasDir) {
        final long usual = 256L << 20;
        final long allowed = Runtime.getRuntime().maxMemory() / 2 / servers;
        return hasDir ? usual : Math.min(usual, allowed & -AreaSettings.MAX_SEGMENT_LENGTH);
    }

    public static int defaultWorkers() {
        return Math.max(4, Math.min(32, 2 * Runtime.getRuntime().availableProcessors()));
    }

    /**
     * Minimum capacity per server: 2 × (workers + 2 × posted + 7) segments, where posted is 2 with more than one
     * replica and 0 otherwise, and a segment is at least 64 KiB.
     */
    public static long minimumCapacity(int replicas, int workers, int segmentBytes) {
        return (long) ServerSettings.minimumSegments(workers, 1, replicas > 1) * segmentBytes;
    }

    /** Values to change, named as in the settings and their shape; each starts with its default. */
    public static final class Builder {
        public int servers = 1;
        public int replicas = 1;
        public @Nullable Path dir;
        /** Per server; 0: the default. */
        public long capacityBytes;
        /** 0: 16 per server. */
        public int shards;
        /** 0: derived from the capacity. */
        public int segmentBytes;

        public int maxMessage = DEFAULT_MAX_MESSAGE;
        /** 0: two per processor, at least 4. */
        public int workers;

        public boolean verifyReads;
        public int scrubMibPerSecond = DEFAULT_SCRUB_MIB_PER_SECOND;
        /** Null: process with a dir, none without. */
        public @Nullable Durability durability;

        public long checkpointIntervalMs = DEFAULT_CHECKPOINT_INTERVAL_MS;
        public boolean acceptUnclean;
        public boolean acceptCopied;
        public long deadlineMs = DEFAULT_DEADLINE_MS;

        private Builder() {}

        /** Sets the durability by its name in configuration; empty: process with a dir, none without. */
        public void durabilityNamed(String name) {
            durability = name.isEmpty() ? null : Durability.valueOf(name.toUpperCase(Locale.ROOT));
        }

        private EmbeddedSettings build() {
            final int shardCount = shards == 0 ? DEFAULT_SHARDS_PER_SERVER * servers : shards;
            final int workerCount = workers == 0 ? defaultWorkers() : workers;
            require(workerCount >= 1 && workerCount <= 1024, "workers must be 1..1024, not " + workerCount);
            final long capacity =
                    capacityBytes == 0 ? defaultCapacity(Math.max(1, servers), dir != null) : capacityBytes;
            final int segment = segmentBytes == 0 ? suitableSegment(capacity, workerCount) : segmentBytes;
            final Durability level =
                    durability != null ? durability : dir == null ? Durability.NONE : Durability.PROCESS;
            final ClusterShape shape =
                    new ClusterShape(servers, replicas, shardCount, segment, maxMessage, level).requireUsable();
            final long minimum = minimumCapacity(replicas, workerCount, segment);
            require(
                    capacity >= minimum,
                    "capacity must be at least " + minimum + " bytes per server for " + workerCount + " workers, "
                            + replicas + " replicas and segments of " + segment
                            + " bytes: 2 x (workers + 2 x posted + 7) segments, posted = " + (replicas > 1 ? 2 : 0)
                            + "; not " + capacity);
            require(
                    scrubMibPerSecond >= 0 && scrubMibPerSecond <= MAX_SCRUB_MIB_PER_SECOND,
                    "scrub-rate must be 0 (off).." + MAX_SCRUB_MIB_PER_SECOND + " MiB per second, not "
                            + scrubMibPerSecond);
            require(
                    dir == null || durability != Durability.NONE,
                    "durability=none keeps no files: leave dir out, or use durability=process");
            require(checkpointIntervalMs >= 0, "checkpoint-interval must not be negative");
            require(
                    deadlineMs >= 1 && deadlineMs <= MAX_DEADLINE_MS,
                    "deadline must be 1.." + MAX_DEADLINE_MS / 1_000 + " seconds, not " + deadlineMs + " ms");
            return new EmbeddedSettings(
                    shape,
                    dir,
                    capacity,
                    workerCount,
                    verifyReads,
                    scrubMibPerSecond,
                    checkpointIntervalMs,
                    acceptUnclean,
                    acceptCopied,
                    deadlineMs);
        }

        /** As long as suits the capacity, but short enough for the minimum number of segments. */
        private int suitableSegment(long capacity, int workerCount) {
            int segment = AreaSettings.segmentLengthFor(capacity);
            while (segment > AreaSettings.MIN_SEGMENT_LENGTH
                    && capacity < 2 * minimumCapacity(replicas, workerCount, segment)) {
                segment >>= 1;
            }
            return segment;
        }

        private static void require(boolean condition, String message) {
            if (!condition) {
                throw new IllegalArgumentException(message);
            }
        }
    }
}
