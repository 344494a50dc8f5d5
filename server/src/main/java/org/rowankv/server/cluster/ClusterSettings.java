package org.rowankv.server.cluster;

import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;

/**
 * Settings of one server of a cluster.
 *
 * @param cluster name of the cluster
 * @param name of the server, unique in the cluster
 * @param dir of its data
 * @param advertised address for the other servers
 * @param clients address for clients; empty if there is none
 * @param admin address of the admin port; empty if there is none
 * @param zone of its machine, or empty
 * @param shape of the cluster
 * @param capacityBytes of its log
 * @param workers worker contexts: each has its own log and connections, and belongs to one event loop
 * @param mutationsPerWorker mutations in flight at once in each
 * @param verifyReads whether every read checks the entry's checksums
 * @param scrubMibPerSecond scrub rate; 0: no scrubbing
 * @param drainMs how long a stop waits for pending operations
 * @param acceptUnclean opens an area that the operating system may not have written completely, or that is marked as
 * incomplete
 * @param acceptCopied opens a directory that is a copy of the one the server was created in
 * @param sessionLeaseMs how long a client's session stays open without a request; 0: forever
 * @param leaseMs how long a server may answer without hearing the manager; the same on all servers
 * @param startWaitMs how long a start waits for servers that can be spared
 * @param minReplicas complete replicas without which a shard takes no writes; the same on all servers
 * @param checkpointIntervalMs between two checkpoints of the indexes; 0: none, and existing ones are removed
 * @param threading of its agents: SHARED, or DEDICATED
 * @param secret of the cluster, which authenticates registrations; null: no authentication
 */
public record ClusterSettings(
        String cluster,
        String name,
        Path dir,
        HostAndPort advertised,
        String clients,
        String admin,
        String zone,
        ClusterShape shape,
        long capacityBytes,
        int workers,
        int mutationsPerWorker,
        boolean verifyReads,
        int scrubMibPerSecond,
        long drainMs,
        boolean acceptUnclean,
        boolean acceptCopied,
        long sessionLeaseMs,
        long leaseMs,
        long startWaitMs,
        int minReplicas,
        long checkpointIntervalMs,
        ThreadingMode threading,
        @Nullable ClusterSecret secret) {
    /** Far longer than the deadlines of clients. */
    public static final long DEFAULT_SESSION_LEASE_MS = 600_000;

    /** A few connections' worth of waiting callers; more callers share the window. */
    public static final int DEFAULT_MUTATIONS_PER_WORKER = 32;

    public static final long DEFAULT_DRAIN_MS = 10_000;

    /** Longer than usual pauses of a JVM. */
    public static final long DEFAULT_LEASE_MS = 400;

    public static final long DEFAULT_START_WAIT_MS = 5_000;

    public static final long DEFAULT_CHECKPOINT_INTERVAL_MS = 10_000;

    public static final int DEFAULT_SHARDS_PER_SERVER = 48;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    /** @throws IllegalArgumentException if the settings are invalid; the message states the limit */
    public ClusterSettings {
        requireName("the cluster's name", cluster);
        requireName("the server's name", name);
        shape.requireUsable();
        require(shape.durability() != Durability.NONE, "durability must be process or power in a cluster");
        require(workers >= 1 && workers <= 1024, "workers must be 1..1024, not " + workers);
        require(
                mutationsPerWorker >= 1 && mutationsPerWorker <= 1024,
                "mutations per worker must be 1..1024, not " + mutationsPerWorker);
        final int segments = ServerSettings.minimumSegments(
                workers, mutationsPerWorker, shape.replicas() > 1, shape.leasedSegments());
        final long least = (long) segments * shape.segmentBytes();
        require(
                capacityBytes >= least,
                "capacity must be at least " + least + " bytes for " + workers + " workers and segments of "
                        + shape.segmentBytes() + " bytes, not " + capacityBytes);
        require(scrubMibPerSecond >= 0, "scrub-rate must not be negative");
        require(drainMs >= 0, "drain must not be negative");
        require(sessionLeaseMs >= 0, "session-lease must not be negative");
        require(leaseMs >= 10 && leaseMs <= 60_000, "lease must be 10..60000 ms, not " + leaseMs);
        require(startWaitMs >= 0, "start-wait must not be negative");
        require(
                minReplicas >= 1 && minReplicas <= shape.replicas(),
                "min-replicas must be 1.." + shape.replicas() + " (the number of replicas), not " + minReplicas);
        require(checkpointIntervalMs >= 0, "checkpoint-interval must not be negative");
        require(threading != ThreadingMode.INVOKED, "threading must be shared or dedicated");
    }

    /**
     * Default settings with changes, and with values for those without a default.
     *
     * @throws IllegalArgumentException if a value is missing or invalid; the message states the limit
     */
    public static ClusterSettings of(Consumer<Builder> change) {
        final Builder builder = new Builder();
        change.accept(builder);
        return builder.build();
    }

    private static void requireName(String what, String name) {
        require(
                NAME.matcher(name).matches(),
                what + " has 1 to 63 of a-z 0-9 . _ - and begins with a letter or digit: '" + name + "' does not");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    LeaseTimes leaseTimes() {
        return LeaseTimes.of(leaseMs * 1_000_000);
    }

    ServerSettings serverSettings(Consumer<ServerSettings.Builder> tuning) {
        final int segmentCount = (int) (capacityBytes / shape.segmentBytes());
        return ServerSettings.of(segmentCount, workers, shape.replicas() > 1, with -> {
            with.mutationsPerWorker = mutationsPerWorker;
            with.verifyReads = verifyReads;
            with.scrubBytesPerSecond = (long) scrubMibPerSecond << 20;
            with.sessionLeaseNs = sessionLeaseMs * 1_000_000;
            with.minReplicas = minReplicas;
            with.leasedSegments = shape.leasedSegments();
            tuning.accept(with);
        });
    }

    /**
     * Values to change, named as in the settings; each starts with its default. Names, directory, address for other
     * servers, shape, capacity and workers have no default.
     */
    public static final class Builder {
        public @Nullable String cluster;
        public @Nullable String name;
        public @Nullable Path dir;
        public @Nullable HostAndPort advertised;
        public String clients = "";
        public String admin = "";
        public String zone = "";
        public @Nullable ClusterShape shape;
        public long capacityBytes;
        public int workers;
        public int mutationsPerWorker = DEFAULT_MUTATIONS_PER_WORKER;
        public boolean verifyReads;
        public int scrubMibPerSecond;
        public long drainMs = DEFAULT_DRAIN_MS;
        public boolean acceptUnclean;
        public boolean acceptCopied;
        public long sessionLeaseMs = DEFAULT_SESSION_LEASE_MS;
        public long leaseMs = DEFAULT_LEASE_MS;
        public long startWaitMs = DEFAULT_START_WAIT_MS;
        public int minReplicas = 1;
        public long checkpointIntervalMs = DEFAULT_CHECKPOINT_INTERVAL_MS;
        public ThreadingMode threading = ThreadingMode.SHARED;
        public @Nullable ClusterSecret secret;

        private Builder() {}

        private ClusterSettings build() {
            return new ClusterSettings(
                    set("the cluster's name", cluster),
                    set("the server's name", name),
                    set("the directory", dir),
                    set("the address for other servers", advertised),
                    clients,
                    admin,
                    zone,
                    set("the cluster's shape", shape),
                    capacityBytes,
                    workers,
                    mutationsPerWorker,
                    verifyReads,
                    scrubMibPerSecond,
                    drainMs,
                    acceptUnclean,
                    acceptCopied,
                    sessionLeaseMs,
                    leaseMs,
                    startWaitMs,
                    minReplicas,
                    checkpointIntervalMs,
                    threading,
                    secret);
        }

        private static <T> T set(String what, @Nullable T value) {
            if (value == null) {
                throw new IllegalArgumentException(what + " is missing");
            }
            return value;
        }
    }
}
