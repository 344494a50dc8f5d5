package org.rowankv.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;

/**
 * Layout of a {@link Routing}, little-endian: the part of a configuration that clients need. Excludes backups.
 *
 * <pre>
 *   0   cluster id              8
 *   8   seed of the key hash    8
 *  16   term                    8
 *  24   server count            4
 *  28   shard count             4
 *  32   per shard: epoch 4, primary 4
 *       per server: incarnation 8, length of its address 4, address in UTF-8
 * </pre>
 */
public final class RoutingDescriptor {
    static final int CLUSTER_ID_OFFSET = 0;
    static final int HASH_SEED_OFFSET = 8;
    static final int TERM_OFFSET = 16;
    static final int SERVER_COUNT_OFFSET = 24;
    static final int SHARD_COUNT_OFFSET = 28;
    static final int HEADER_LENGTH = 32;
    static final int SHARD_LENGTH = 2 * Integer.BYTES;
    static final int SERVER_LENGTH = Long.BYTES + Integer.BYTES;
    static final int MAX_SERVERS = 1024;
    static final int MAX_ADDRESS = 300;

    private RoutingDescriptor() {}

    public static byte[] encode(Routing routing) {
        final Configuration configuration = routing.configuration();
        int length = HEADER_LENGTH + configuration.shardCount() * SHARD_LENGTH;
        final List<byte[]> addresses = new ArrayList<>();
        for (String address : routing.addresses()) {
            final byte[] bytes = address.getBytes(UTF_8);
            if (bytes.length > MAX_ADDRESS) {
                throw new IllegalArgumentException("an address longer than " + MAX_ADDRESS + " bytes: " + address);
            }
            addresses.add(bytes);
            length += SERVER_LENGTH + bytes.length;
        }
        final ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(CLUSTER_ID_OFFSET, configuration.clusterId())
                .putLong(HASH_SEED_OFFSET, configuration.hashSeed())
                .putLong(TERM_OFFSET, configuration.term())
                .putInt(SERVER_COUNT_OFFSET, configuration.serverCount())
                .putInt(SHARD_COUNT_OFFSET, configuration.shardCount())
                .position(HEADER_LENGTH);
        for (ShardAssignment shard : configuration.shards()) {
            buffer.putInt(shard.epoch()).putInt(shard.primary());
        }
        for (int server = 0; server < addresses.size(); server++) {
            buffer.putLong(configuration.incarnations().get(server))
                    .putInt(addresses.get(server).length)
                    .put(addresses.get(server));
        }
        return buffer.array();
    }

    /** Why the bytes are no routing, or null. */
    public static @Nullable String whyInvalid(byte[] bytes) {
        if (bytes.length < HEADER_LENGTH) {
            return "it has " + bytes.length + " bytes only";
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final int servers = buffer.getInt(SERVER_COUNT_OFFSET);
        final int shards = buffer.getInt(SHARD_COUNT_OFFSET);
        if (servers < 1
                || servers > MAX_SERVERS
                || shards < 1
                || shards > ShardMap.MAX_SHARDS
                || buffer.getLong(TERM_OFFSET) < 1) {
            return servers + " servers, " + shards + " shards, term " + buffer.getLong(TERM_OFFSET);
        }
        int at = HEADER_LENGTH + shards * SHARD_LENGTH;
        if (at > bytes.length) {
            return "it ends before its servers";
        }
        for (int shard = 0; shard < shards; shard++) {
            final int epoch = buffer.getInt(HEADER_LENGTH + shard * SHARD_LENGTH);
            final int primary = buffer.getInt(HEADER_LENGTH + shard * SHARD_LENGTH + Integer.BYTES);
            if (epoch < 0 || epoch > Version.MAX_EPOCH || primary < 0 || primary >= servers) {
                return "shard " + shard + " has epoch " + epoch + " and primary " + primary;
            }
        }
        for (int server = 0; server < servers; server++) {
            if (bytes.length - at < SERVER_LENGTH) {
                return "it ends before server " + server;
            }
            final int length = buffer.getInt(at + Long.BYTES);
            at += SERVER_LENGTH;
            if (length < 0 || length > MAX_ADDRESS || length > bytes.length - at) {
                return "server " + server + " has an address of " + length + " bytes";
            }
            at += length;
        }
        return at == bytes.length ? null : "bytes behind the last server";
    }

    /** Throws IllegalArgumentException with the reason if the bytes are no routing. */
    public static Routing decode(byte[] bytes) {
        final String reason = whyInvalid(bytes);
        if (reason != null) {
            throw new IllegalArgumentException("no routing: " + reason);
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final int servers = buffer.getInt(SERVER_COUNT_OFFSET);
        final int shardCount = buffer.getInt(SHARD_COUNT_OFFSET);
        buffer.position(HEADER_LENGTH);
        final List<ShardAssignment> shards = new ArrayList<>(shardCount);
        for (int shard = 0; shard < shardCount; shard++) {
            final int epoch = buffer.getInt();
            shards.add(new ShardAssignment(epoch, buffer.getInt(), new int[0]));
        }
        final List<Long> incarnations = new ArrayList<>(servers);
        final List<String> addresses = new ArrayList<>(servers);
        for (int server = 0; server < servers; server++) {
            incarnations.add(buffer.getLong());
            final byte[] address = new byte[buffer.getInt()];
            buffer.get(address);
            addresses.add(new String(address, UTF_8));
        }
        return new Routing(
                new Configuration(
                        buffer.getLong(CLUSTER_ID_OFFSET),
                        buffer.getLong(HASH_SEED_OFFSET),
                        buffer.getLong(TERM_OFFSET),
                        incarnations,
                        shards),
                addresses);
    }
}
