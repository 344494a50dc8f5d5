package org.rowankv.server.configstore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/**
 * A configuration as bytes, little endian.
 *
 * <pre>
 *   0  magic "RKVC"                      4
 *   4  format version                    4
 *   8  checksum, CRC32C of 12 .. end     4
 *  12  server count                      4
 *  16  shard count                       4
 *  20  zero                              4
 *  24  cluster id                        8
 *  32  seed of the key hash              8
 *  40  term                              8
 *  48  per server: incarnation           8
 *      per shard:  epoch 4, primary 2, backup count 2, per backup: server 2
 * </pre>
 *
 * <p>Format version {@value #FORMAT_VERSION} is as above. While replicas are joining, a configuration is written in format
 * version {@value #JOINING_VERSION}, in which {@value #JOINING} is added to the server of each joining backup. So a reader
 * without support for joining refuses it, and reads all others.
 *
 * <p>A configuration with a manager, with excluded servers, or behind its common start, has format version
 * {@value #MANAGED_VERSION}: as the second, with the term of the common start (8), the manager or −1 (4) and a zero (4) before
 * the incarnations, of which those of excluded servers have their highest bit set.
 *
 * <p>Once a shard has begun empty after the loss of all its replicas, it is format version {@value #RECOVERED_VERSION}: as
 * the third, and behind the shards the origin (4) of each.
 *
 * <p>Invalid bytes are refused with the reason; no count is used before its bytes are checked.
 */
public final class ConfigurationCodec {
    /** Path of the stored configuration. */
    public static final String PATH = "/configuration";

    static final int MAGIC = 0x43564b52; // "RKVC" in memory order
    static final int FORMAT_VERSION = 1;
    static final int JOINING_VERSION = 2;
    static final int MANAGED_VERSION = 3;
    static final int RECOVERED_VERSION = 4;
    /** Above every server id. */
    static final int JOINING = 1 << 14;

    static final int MAX_SERVERS = 1024;

    static final int MAGIC_OFFSET = 0;
    static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int CHECKSUM_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    static final int SERVER_COUNT_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;
    static final int SHARD_COUNT_OFFSET = SERVER_COUNT_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = SHARD_COUNT_OFFSET + Integer.BYTES;
    static final int CLUSTER_ID_OFFSET = RESERVED_OFFSET + Integer.BYTES;
    static final int HASH_SEED_OFFSET = CLUSTER_ID_OFFSET + Long.BYTES;
    static final int TERM_OFFSET = HASH_SEED_OFFSET + Long.BYTES;
    static final int HEADER_LENGTH = TERM_OFFSET + Long.BYTES;
    static final int START_TERM_OFFSET = HEADER_LENGTH;
    static final int MANAGER_OFFSET = START_TERM_OFFSET + Long.BYTES;
    static final int MANAGED_HEADER_LENGTH = MANAGER_OFFSET + 2 * Integer.BYTES;
    static final long EXCLUDED = Long.MIN_VALUE;
    static final int SHARD_LENGTH = Integer.BYTES + 2 * Short.BYTES;

    private ConfigurationCodec() {}

    public static byte[] encode(Configuration configuration) {
        if (configuration.serverCount() > MAX_SERVERS) {
            throw new IllegalArgumentException(configuration.serverCount() + " servers are more than " + MAX_SERVERS);
        }
        final int version = version(configuration);
        int length = headerLength(version) + configuration.serverCount() * Long.BYTES;
        for (ShardAssignment shard : configuration.shards()) {
            length += SHARD_LENGTH + (shard.replicaCount() - 1) * Short.BYTES;
        }
        length += originsLength(version, configuration.shardCount());
        final ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(MAGIC_OFFSET, MAGIC)
                .putInt(FORMAT_VERSION_OFFSET, version)
                .putInt(SERVER_COUNT_OFFSET, configuration.serverCount())
                .putInt(SHARD_COUNT_OFFSET, configuration.shardCount())
                .putLong(CLUSTER_ID_OFFSET, configuration.clusterId())
                .putLong(HASH_SEED_OFFSET, configuration.hashSeed())
                .putLong(TERM_OFFSET, configuration.term())
                .position(headerLength(version));
        if (version >= MANAGED_VERSION) {
            buffer.putLong(START_TERM_OFFSET, configuration.startTerm())
                    .putInt(MANAGER_OFFSET, configuration.manager());
        }
        for (int server = 0; server < configuration.serverCount(); server++) {
            final long incarnation = configuration.incarnations().get(server);
            buffer.putLong(configuration.isMember(server) ? incarnation : incarnation | EXCLUDED);
        }
        for (ShardAssignment shard : configuration.shards()) {
            buffer.putInt(shard.epoch()).putShort((short) shard.primary()).putShort((short) (shard.replicaCount() - 1));
            for (int backup : shard.backups()) {
                buffer.putShort((short) (shard.isJoining(backup) ? backup | JOINING : backup));
            }
        }
        if (version == RECOVERED_VERSION) {
            configuration.shards().forEach(shard -> buffer.putInt(shard.origin()));
        }
        buffer.putInt(CHECKSUM_OFFSET, checksum(buffer));
        assert whyInvalid(buffer.array()) == null : whyInvalid(buffer.array());
        return buffer.array();
    }

    private static int version(Configuration configuration) {
        if (configuration.shards().stream().anyMatch(shard -> shard.origin() > 0)) {
            return RECOVERED_VERSION;
        }
        if (configuration.hasManager()
                || !configuration.excluded().isEmpty()
                || configuration.startTerm() != configuration.term()) {
            return MANAGED_VERSION;
        }
        final boolean joining = configuration.shards().stream()
                .anyMatch(shard -> !shard.joining().isEmpty());
        return joining ? JOINING_VERSION : FORMAT_VERSION;
    }

    private static int headerLength(int version) {
        return version >= MANAGED_VERSION ? MANAGED_HEADER_LENGTH : HEADER_LENGTH;
    }

    private static int originsLength(int version, int shards) {
        return version == RECOVERED_VERSION ? shards * Integer.BYTES : 0;
    }

    /** Throws {@link ConfigurationStoreException} with the reason if the bytes are not a configuration. */
    public static Configuration decode(byte[] bytes) {
        final String reason = whyInvalid(bytes);
        if (reason != null) {
            throw new ConfigurationStoreException("the stored configuration cannot be read: " + reason);
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final int version = buffer.getInt(FORMAT_VERSION_OFFSET);
        buffer.position(headerLength(version));
        final List<Long> incarnations = new ArrayList<>();
        final Set<Integer> excluded = new HashSet<>();
        for (int i = 0; i < buffer.getInt(SERVER_COUNT_OFFSET); i++) {
            final long incarnation = buffer.getLong();
            incarnations.add(incarnation & ~EXCLUDED);
            if (incarnation < 0) {
                excluded.add(i);
            }
        }
        final List<ShardAssignment> shards = new ArrayList<>();
        final int origins = bytes.length - originsLength(version, buffer.getInt(SHARD_COUNT_OFFSET));
        for (int i = 0; i < buffer.getInt(SHARD_COUNT_OFFSET); i++) {
            final int origin = version == RECOVERED_VERSION ? buffer.getInt(origins + i * Integer.BYTES) : 0;
            final int epoch = buffer.getInt();
            final int primary = buffer.getShort();
            final int[] backups = new int[buffer.getShort()];
            final Set<Integer> joining = new HashSet<>();
            for (int j = 0; j < backups.length; j++) {
                final int backup = buffer.getShort();
                backups[j] = backup & ~JOINING;
                if ((backup & JOINING) != 0) {
                    joining.add(backups[j]);
                }
            }
            shards.add(new ShardAssignment(epoch, primary, backups, joining, origin));
        }
        return new Configuration(
                buffer.getLong(CLUSTER_ID_OFFSET),
                buffer.getLong(HASH_SEED_OFFSET),
                buffer.getLong(TERM_OFFSET),
                incarnations,
                shards,
                version >= MANAGED_VERSION ? buffer.getLong(START_TERM_OFFSET) : buffer.getLong(TERM_OFFSET),
                version >= MANAGED_VERSION ? buffer.getInt(MANAGER_OFFSET) : Configuration.NO_MANAGER,
                excluded);
    }

    /** Why the bytes are not a configuration that this version reads, or null. */
    static @Nullable String whyInvalid(byte[] bytes) {
        if (bytes.length < HEADER_LENGTH) {
            return "it has " + bytes.length + " bytes only";
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (buffer.getInt(MAGIC_OFFSET) != MAGIC) {
            return "it is not a configuration";
        }
        final int version = buffer.getInt(FORMAT_VERSION_OFFSET);
        if (version < FORMAT_VERSION || version > RECOVERED_VERSION) {
            return "it has format version " + version + ", this version of Rowan-KV reads " + FORMAT_VERSION + " to "
                    + RECOVERED_VERSION + "; use the version that wrote it, or a newer one";
        }
        if (buffer.getInt(CHECKSUM_OFFSET) != checksum(buffer)) {
            return "its checksum is wrong";
        }
        final int servers = buffer.getInt(SERVER_COUNT_OFFSET);
        final int shards = buffer.getInt(SHARD_COUNT_OFFSET);
        if (servers < 1 || servers > MAX_SERVERS || shards < 1 || shards > ShardMap.MAX_SHARDS) {
            return servers + " servers, " + shards + " shards";
        }
        if (buffer.getInt(RESERVED_OFFSET) != 0) {
            return "reserved bytes are not zero";
        }
        if (buffer.getLong(TERM_OFFSET) < 1) {
            return "term " + buffer.getLong(TERM_OFFSET);
        }
        if (bytes.length < headerLength(version) + servers * Long.BYTES + originsLength(version, shards)) {
            return "it ends before the shards";
        }
        final String reason = whyServersInvalid(buffer, version, servers);
        return reason == null ? whyShardsInvalid(buffer, headerLength(version), servers, shards) : reason;
    }

    private static @Nullable String whyServersInvalid(ByteBuffer buffer, int version, int servers) {
        for (int server = 0; server < servers && version < MANAGED_VERSION; server++) {
            if (buffer.getLong(HEADER_LENGTH + server * Long.BYTES) < 0) {
                return "server " + server + " has a negative incarnation";
            }
        }
        if (version < MANAGED_VERSION) {
            return null;
        }
        final int manager = buffer.getInt(MANAGER_OFFSET);
        if (manager < Configuration.NO_MANAGER
                || manager >= servers
                || manager >= 0 && buffer.getLong(MANAGED_HEADER_LENGTH + manager * Long.BYTES) < 0) {
            return "server " + manager + " cannot be the manager";
        }
        final long startTerm = buffer.getLong(START_TERM_OFFSET);
        return startTerm < 1
                        || startTerm > buffer.getLong(TERM_OFFSET)
                        || buffer.getInt(MANAGER_OFFSET + Integer.BYTES) != 0
                ? "its common start is term " + startTerm
                : null;
    }

    private static @Nullable String whyShardsInvalid(ByteBuffer buffer, int headerLength, int servers, int shards) {
        int at = headerLength + servers * Long.BYTES;
        final int shardsEnd = buffer.capacity() - originsLength(buffer.getInt(FORMAT_VERSION_OFFSET), shards);
        for (int shard = 0; shard < shards; shard++) {
            if (at > shardsEnd - SHARD_LENGTH) {
                return "it ends before shard " + shard;
            }
            final int backups = buffer.getShort(at + SHARD_LENGTH - Short.BYTES);
            final int end = at + SHARD_LENGTH + backups * Short.BYTES;
            final int epoch = buffer.getInt(at);
            if (epoch < 0 || epoch > Version.MAX_EPOCH || backups < 0 || backups >= servers || end > shardsEnd) {
                return "shard " + shard + " has epoch " + epoch + " and " + backups + " backups";
            }
            final String reason = whyReplicasInvalid(buffer, at, end, servers);
            if (reason != null) {
                return "shard " + shard + ": " + reason;
            }
            final int origin = shardsEnd == buffer.capacity() ? 0 : buffer.getInt(shardsEnd + shard * Integer.BYTES);
            if (origin < 0 || origin > epoch) {
                return "shard " + shard + " begins with epoch " + origin;
            }
            at = end;
        }
        return at == shardsEnd ? null : "bytes after the last shard";
    }

    /** Primary and backups must be servers, each once. */
    private static @Nullable String whyReplicasInvalid(ByteBuffer buffer, int at, int end, int servers) {
        final boolean[] seen = new boolean[servers];
        final boolean mayJoin = buffer.getInt(FORMAT_VERSION_OFFSET) >= JOINING_VERSION;
        int replica = at + Integer.BYTES;
        while (replica < end) {
            final boolean isBackup = replica > at + Integer.BYTES;
            final int server = buffer.getShort(replica) & (mayJoin && isBackup ? ~JOINING : ~0);
            if (server < 0 || server >= servers || seen[server]) {
                return "server " + server + " is not one of " + servers + ", or named twice";
            }
            seen[server] = true;
            // The backup count stands between the primary and the first backup.
            replica += isBackup ? Short.BYTES : 2 * Short.BYTES;
        }
        return null;
    }

    private static int checksum(ByteBuffer buffer) {
        final CRC32C crc = new CRC32C();
        crc.update(buffer.duplicate().clear().position(SERVER_COUNT_OFFSET));
        return (int) crc.getValue();
    }
}
