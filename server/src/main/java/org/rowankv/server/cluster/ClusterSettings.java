package org.rowankv.server.cluster;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.topology.ShardMap;

/**
 * Settings of one server of a cluster. Made by {@link #builder}.
 *
 * @param cluster name of the cluster
 * @param name of the server, unique in the cluster
 * @param dir of its data
 * @param advertised where the other servers reach it
 * @param clients where clients reach it; empty if they do not
 * @param admin where it tells of itself; empty if it does not
 * @param zone of its machine, or empty
 * @param shape of the cluster
 * @param capacityBytes of its log
 * @param workers worker contexts: each with a log and connections of its own, and used by one event loop
 * @param mutationsPerWorker mutations under way at once in each
 * @param verifyReads whether every read checks the entry's checksums
 * @param scrubMibPerSecond how fast it reads again what it holds; 0: not at all
 * @param drainMs how long a stop waits for operations under way
 * @param acceptUnclean opens an area that the operating system may not have written completely, or that is marked as incomplete
 * @param acceptCopied opens a directory that is a copy of the one the server was made in
 * @param sessionLeaseMs how long a client's session is kept without a request of it; 0: for ever
 * @param threading of its agents: SHARED, or DEDICATED
 * @param secret of the cluster, by which registrations are known; null: any is believed
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
        ThreadingMode threading,
        @Nullable ClusterSecret secret) {
    /** Long beyond the deadlines of clients. */
    public static final long DEFAULT_SESSION_LEASE_MS = 600_000;

    /** A few connections' worth of callers that wait; more of them share what is under way. */
    public static final int DEFAULT_MUTATIONS_PER_WORKER = 32;

    public static final long DEFAULT_DRAIN_MS = 10_000;

    public static final int DEFAULT_SHARDS_PER_SERVER = 48;
    public static final int MAX_SERVERS = 64;
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");
    private static final int MAX_MESSAGE = 128 << 10;

    /** @throws IllegalArgumentException if a server cannot run with them; says why and what would do */
    public ClusterSettings {
        requireName("the cluster's name", cluster);
        requireName("the server's name", name);
        require(
                shape.servers() >= 1 && shape.servers() <= MAX_SERVERS,
                "a cluster has 1.." + MAX_SERVERS + " servers, not " + shape.servers());
        require(
                shape.replicas() >= 1 && shape.replicas() <= shape.servers(),
                "replicas must be 1.." + shape.servers() + " (the number of servers), not " + shape.replicas());
        require(
                shape.shards() >= shape.servers() && shape.shards() <= ShardMap.MAX_SHARDS,
                "shards must be " + shape.servers() + " (one per server).." + ShardMap.MAX_SHARDS + ", not "
                        + shape.shards());
        require(shape.durability() != Durability.NONE, "durability must be process or power in a cluster");
        require(
                Integer.bitCount(shape.segmentBytes()) == 1
                        && shape.segmentBytes() >= AreaSettings.MIN_SEGMENT_LENGTH
                        && shape.segmentBytes() <= AreaSettings.MAX_SEGMENT_LENGTH,
                "segment must be a power of two from " + AreaSettings.MIN_SEGMENT_LENGTH + " to "
                        + AreaSettings.MAX_SEGMENT_LENGTH + " bytes, not " + shape.segmentBytes());
        require(
                shape.maxMessage() >= 256
                        && shape.maxMessage() <= Math.min(MAX_MESSAGE, shape.segmentBytes())
                        && shape.maxMessage() % 64 == 0,
                "max-message must be a multiple of 64 from 256 to " + Math.min(MAX_MESSAGE, shape.segmentBytes())
                        + ", not " + shape.maxMessage());
        require(workers >= 1 && workers <= 1024, "workers must be 1..1024, not " + workers);
        require(
                mutationsPerWorker >= 1 && mutationsPerWorker <= 1024,
                "mutations per worker must be 1..1024, not " + mutationsPerWorker);
        final long least = (long) ServerSettings.minimumSegments(workers, mutationsPerWorker, shape.replicas() > 1)
                * shape.segmentBytes();
        require(
                capacityBytes >= least,
                "capacity must be at least " + least + " bytes for " + workers + " workers and segments of "
                        + shape.segmentBytes() + " bytes, not " + capacityBytes);
        require(scrubMibPerSecond >= 0, "scrub-rate must not be negative");
        require(drainMs >= 0, "drain must not be negative");
        require(sessionLeaseMs >= 0, "session-lease must not be negative");
        require(threading != ThreadingMode.INVOKED, "threading must be shared or dedicated");
    }

    public static Builder builder() {
        return new Builder();
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

    ServerSettings serverSettings() {
        return ServerSettings.of(
                        (int) (capacityBytes / shape.segmentBytes()),
                        workers,
                        shape.replicas() > 1,
                        verifyReads,
                        (long) scrubMibPerSecond << 20)
                .withMutationsPerWorker(mutationsPerWorker)
                .withSessionLeaseNs(sessionLeaseMs * 1_000_000);
    }

    /** Collects settings; what has no default has to be set. */
    public static final class Builder {
        private @Nullable String cluster;
        private @Nullable String name;
        private @Nullable Path dir;
        private @Nullable HostAndPort advertised;
        private String clients = "";
        private String admin = "";
        private String zone = "";
        private @Nullable ClusterShape shape;
        private long capacityBytes;
        private int workers;
        private int mutationsPerWorker = DEFAULT_MUTATIONS_PER_WORKER;
        private boolean verifyReads;
        private int scrubMibPerSecond;
        private long drainMs = DEFAULT_DRAIN_MS;
        private boolean acceptUnclean;
        private boolean acceptCopied;
        private long sessionLeaseMs = DEFAULT_SESSION_LEASE_MS;
        private ThreadingMode threading = ThreadingMode.SHARED;
        private @Nullable ClusterSecret secret;

        /** No default. */
        public Builder cluster(String ofCluster) {
            cluster = ofCluster;
            return this;
        }

        /** No default. */
        public Builder name(String ofServer) {
            name = ofServer;
            return this;
        }

        /** No default. */
        public Builder dir(Path directory) {
            dir = directory;
            return this;
        }

        /** No default. */
        public Builder advertised(HostAndPort address) {
            advertised = address;
            return this;
        }

        /** Empty, the default: clients do not reach it. */
        public Builder clients(String address) {
            clients = address;
            return this;
        }

        /** Empty, the default: it does not tell of itself. */
        public Builder admin(String address) {
            admin = address;
            return this;
        }

        public Builder zone(String ofMachine) {
            zone = ofMachine;
            return this;
        }

        /** No default. */
        public Builder shape(ClusterShape ofCluster) {
            shape = ofCluster;
            return this;
        }

        /** No default. */
        public Builder capacityBytes(long bytes) {
            capacityBytes = bytes;
            return this;
        }

        /** No default. */
        public Builder workers(int count) {
            workers = count;
            return this;
        }

        public Builder mutationsPerWorker(int count) {
            mutationsPerWorker = count;
            return this;
        }

        public Builder verifyReads(boolean verify) {
            verifyReads = verify;
            return this;
        }

        /** 0, the default: not at all. */
        public Builder scrubMibPerSecond(int mib) {
            scrubMibPerSecond = mib;
            return this;
        }

        public Builder drainMs(long ms) {
            drainMs = ms;
            return this;
        }

        public Builder acceptUnclean(boolean accept) {
            acceptUnclean = accept;
            return this;
        }

        public Builder acceptCopied(boolean accept) {
            acceptCopied = accept;
            return this;
        }

        /** 0: for ever. */
        public Builder sessionLeaseMs(long ms) {
            sessionLeaseMs = ms;
            return this;
        }

        public Builder threading(ThreadingMode mode) {
            threading = mode;
            return this;
        }

        /** Null, the default: the cluster has none. */
        public Builder secret(@Nullable ClusterSecret ofCluster) {
            secret = ofCluster;
            return this;
        }

        /** @throws IllegalArgumentException if something is missing, or a server cannot run with it; says what would do */
        public ClusterSettings build() {
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
