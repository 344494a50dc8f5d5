package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import org.rowankv.protocol.Parts;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.TenureTable;
import org.rowankv.server.inspect.ReplicaReport.Digest;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.topology.KeyHash;

/**
 * The state that the entries of a cut produce on one running server, as digests: {@link AreaReplay} in some forty bytes
 * per key, whatever its length. Keys are distinguished by their 64-bit hashes; two keys of one hash count as one, on
 * every replica alike. For one thread: first all entries, in whatever order, then the digests.
 */
public final class CutContents {
    private record CacheShard(int cacheId, int shard) {}

    private final IntPredicate selected;
    private final KeyHash hash;
    private final TenureTable tenures;
    private final EntryCheck check;
    private final Map<CacheShard, Long> cleared = new HashMap<>();
    private byte[] scratch = new byte[256];

    // An open hash table; a version of 0 is a free slot.
    private long[] hashes = new long[1 << 10];
    private long[] versions = new long[1 << 10];
    /** 0 for a removal. */
    private long[] digests = new long[1 << 10];

    private int[] caches = new int[1 << 10];
    private int[] shards = new int[1 << 10];
    private int count;

    /**
     * @param selected the shards whose digests are queried
     * @param region that holds the entries
     */
    public CutContents(IntPredicate selected, KeyHash hash, TenureTable tenures, MemoryRegion region) {
        this.selected = selected;
        this.hash = hash;
        this.tenures = tenures;
        this.check = new EntryCheck(region);
    }

    /** Adds a verified entry. Blocks are ignored: the entry that they form is in the cut too. */
    public void apply(ByteBuffer buffer, int at, int type) {
        if (type != EntryType.CLEAR && !EntryType.isKeyed(type)) {
            return;
        }
        final int shard = EntryDescriptor.shard(buffer, at);
        final int tenure = tenures.tenure(shard);
        if (!selected.test(shard) || tenure == 0 || FrameDescriptor.tag(buffer, at) < tenure) {
            return;
        }
        final int cacheId = EntryDescriptor.cacheId(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        if (type == EntryType.CLEAR) {
            cleared.merge(new CacheShard(cacheId, shard), version, Math::max);
            return;
        }
        final int flags = EntryDescriptor.flags(buffer, at);
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > scratch.length) {
            scratch = new byte[Math.max(keyLength, 2 * scratch.length)];
        }
        buffer.get(keyAt, scratch, 0, keyLength);
        final long keyHash = hash.hash(cacheId, scratch, 0, keyLength);
        long digest = 0;
        if (EntryType.holdsObject(type)) {
            final int valueCrc = check.crc(buffer, keyAt + keyLength, EntryDescriptor.valueLength(buffer, at));
            digest = ObjectDigest.of(
                    keyHash,
                    version,
                    EntryDescriptor.objectVersion(buffer, at, flags),
                    valueCrc,
                    EntryDescriptor.expiryMs(buffer, at, flags));
            digest = digest == 0 ? 1 : digest;
        }
        put(keyHash, version, digest, cacheId, shard);
    }

    private void put(long keyHash, long version, long digest, int cacheId, int shard) {
        if (2 * count >= hashes.length) {
            grow();
        }
        final int place = place(keyHash, shard);
        if (versions[place] == 0) {
            count++;
        }
        if (version > versions[place]) {
            hashes[place] = keyHash;
            versions[place] = version;
            digests[place] = digest;
            caches[place] = cacheId;
            shards[place] = shard;
        }
    }

    private int place(long keyHash, int shard) {
        int place = Long.hashCode(keyHash * 0x9e3779b97f4a7c15L) & hashes.length - 1;
        while (versions[place] != 0 && (hashes[place] != keyHash || shards[place] != shard)) {
            place = place + 1 & hashes.length - 1;
        }
        return place;
    }

    private void grow() {
        final long[] oldHashes = hashes;
        final long[] oldVersions = versions;
        final long[] oldDigests = digests;
        final int[] oldCaches = caches;
        final int[] oldShards = shards;
        final int length = 2 * oldHashes.length;
        hashes = new long[length];
        versions = new long[length];
        digests = new long[length];
        caches = new int[length];
        shards = new int[length];
        for (int i = 0; i < oldHashes.length; i++) {
            if (oldVersions[i] != 0) {
                final int place = place(oldHashes[i], oldShards[i]);
                hashes[place] = oldHashes[i];
                versions[place] = oldVersions[i];
                digests[place] = oldDigests[i];
                caches[place] = oldCaches[i];
                shards[place] = oldShards[i];
            }
        }
    }

    /** By shard, this server's digest. */
    public Digest[] digests(int server, int shardCount) {
        final long[] objects = new long[shardCount];
        final long[] sums = new long[shardCount];
        for (int i = 0; i < hashes.length; i++) {
            if (digests[i] != 0
                    && versions[i] > cleared.getOrDefault(new CacheShard(Parts.cacheOf(caches[i]), shards[i]), 0L)) {
                objects[shards[i]]++;
                sums[shards[i]] += digests[i];
            }
        }
        final Digest[] result = new Digest[shardCount];
        Arrays.setAll(result, shard -> new Digest(server, objects[shard], sums[shard]));
        return result;
    }
}
