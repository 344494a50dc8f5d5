package org.rowankv.jcache.embedded;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import javax.cache.CacheException;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.WriteResult;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Clock;
import org.rowankv.server.embedded.offline.CacheReplacement;
import org.rowankv.server.embedded.offline.CacheReplacement.StoredObject;

/**
 * Writes a cache's objects under structural keys as new content of the cache; values and expiries stay. Of keys that are equal
 * the newer version stays. For one thread and one use.
 *
 * <p>Versions are comparable within a shard, and between starts of the store. Where two equal keys were written to two
 * shards since one start, which is newer is unclear: then the larger version stays, or neither.
 */
final class KeyRecoding {
    private final CacheReplacement cache;
    private final RowanClient client;
    private final Codec codec;
    private final Class<?> keyType;
    private final Clock clock;
    private final boolean dropsUnclear;
    private final int progressEvery;
    private final Consumer<String> progress;
    private final ByteSink sink = new ByteSink(256);

    /** New keys that more than one object has, with the best object so far. */
    private final Map<ByteBuffer, StoredObject> best = new HashMap<>();

    private final Set<ByteBuffer> shared = new HashSet<>();
    private final Set<ByteBuffer> unclear = new HashSet<>();
    private long keys;
    private long recoded;
    private long inShared;

    /**
     * @param codec reads keys in both formats, and writes structural ones
     * @param keyType of the cache
     * @param dropsUnclear whether equal keys of unclear age are left out
     * @param progressEvery so many keys a line is passed to {@code progress}
     */
    KeyRecoding(
            CacheReplacement cache,
            RowanClient client,
            Codec codec,
            Class<?> keyType,
            Clock clock,
            boolean dropsUnclear,
            int progressEvery,
            Consumer<String> progress) {
        this.cache = cache;
        this.client = client;
        this.codec = codec;
        this.keyType = keyType;
        this.clock = clock;
        this.dropsUnclear = dropsUnclear;
        this.progressEvery = progressEvery;
        this.progress = progress;
    }

    /** Objects read. */
    long keys() {
        return keys;
    }

    /** Of these, those whose keys have other bytes now. */
    long recoded() {
        return recoded;
    }

    /** Objects that gave way to a newer one with an equal key. */
    long merged() {
        return inShared - shared.size();
    }

    /** Keys of unclear age whose values differ. */
    int unclear() {
        return unclear.size();
    }

    /** Writes the new content. Throws if a key cannot be read or written, or the store is full. */
    void copy() {
        cache.forEach(each -> {
            final byte[] key = newKey(each);
            if (!Arrays.equals(key, each.key())) {
                recoded++;
            }
            if (!put(key, each, Condition.IF_ABSENT)) {
                shared.add(ByteBuffer.wrap(key));
            }
            keys++;
            if (keys % progressEvery == 0) {
                progress.accept("copied " + keys + " objects");
            }
        });
        if (!shared.isEmpty()) {
            progress.accept(shared.size() + " keys are those of more than one object");
            cache.forEach(this::compare);
            best.forEach(this::settle);
        }
    }

    private byte[] newKey(StoredObject object) {
        try {
            final Object key = codec.decode(object.key(), 0, object.key().length);
            sink.reset();
            codec.encodeKey(key, sink);
            final Object unused = codec.decodeKey(sink.bytes(), 0, sink.length(), keyType);
            return sink.toBytes();
        } catch (CacheException e) {
            throw new CacheException("a key cannot be recoded, and nothing was changed: " + e.getMessage(), e);
        }
    }

    /** False if there is such a key, and the condition forbids it. */
    private boolean put(byte[] key, StoredObject object, Condition condition) {
        final long ttlMs =
                object.expiryMs() == Long.MAX_VALUE ? Ttl.ETERNAL : Math.max(0, object.expiryMs() - clock.wallMs());
        if (ttlMs == 0) {
            return true; // it has expired since
        }
        final byte[] value = object.value();
        final Request put = new Request()
                .put(cache.newId(), key, 0, key.length, value, 0, value.length)
                .when(condition)
                .ttl(ttlMs, ttlMs);
        client.execute(put);
        if (put.status() == Status.CONDITION_FAILED) {
            return false;
        }
        RowanClient.checkOutcome(put);
        return true;
    }

    private void compare(StoredObject object) {
        final ByteBuffer key = ByteBuffer.wrap(newKey(object));
        if (!shared.contains(key)) {
            return;
        }
        inShared++;
        final StoredObject before = best.get(key);
        if (before == null) {
            best.put(key, object);
            return;
        }
        final int epoch = Version.epoch(object.version());
        final int bestEpoch = Version.epoch(before.version());
        final boolean isNewer = object.version() > before.version();
        if (epoch > bestEpoch) {
            unclear.remove(key);
        } else if (epoch == bestEpoch
                && object.shard() != before.shard()
                && !Arrays.equals(before.value(), object.value())) {
            unclear.add(key);
        }
        if (isNewer) {
            best.put(key, object);
        }
    }

    private void settle(ByteBuffer sharedKey, StoredObject object) {
        final byte[] key = new byte[sharedKey.remaining()];
        sharedKey.duplicate().get(key);
        if (dropsUnclear && unclear.contains(sharedKey)) {
            final WriteResult unused = client.remove(cache.newId(), key);
        } else {
            final boolean unused = put(key, object, Condition.ALWAYS);
        }
    }
}
