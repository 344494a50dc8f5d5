package org.rowankv.jcache.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.driver.WriteResult;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clears a cache once when its generation changes, however many clients open it at once. The generations are objects of
 * a cache of their own, by cache id. A client claims the change, clears, then says that it is done. The others wait for
 * that: none can write an entry that the clear would remove.
 *
 * <p>A claim of a client that ended before it was done is void after {@link #CLAIM_MS}. The servers have then forgotten
 * the client, so that a request of it that arrives yet is refused: it cannot clear what came later.
 *
 * <pre>
 *   +-------+-----------------+----------------+
 *   | state | time of the     | the generation |
 *   |       | claim, wall ms  | in UTF-8       |
 *   +-------+-----------------+----------------+
 *     1 byte        8                rest
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class Generations {
    /** The cache of the generations; it has no descriptor, by which it differs from caches of applications. */
    static final String CACHE = "rowan.generations";

    /** Above the time after which servers end the session of a silent client, with room for clocks that differ. */
    private static final long CLAIM_MS = TimeUnit.MINUTES.toMillis(15);

    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final byte CLAIMED = 'C';
    private static final byte DONE = 'D';
    private static final Logger LOG = LoggerFactory.getLogger(Generations.class);

    private final RowanClient client;
    private final Clock clock;
    private final boolean isAlone;

    /** @param isAlone whether no other process uses the store: then a claim found is one of a process that ended */
    Generations(RowanClient client, Clock clock, boolean isAlone) {
        this.client = client;
        this.clock = clock;
        this.isAlone = isAlone;
    }

    /**
     * Returns once the cache has that generation. In this process, called by one thread at a time.
     *
     * @throws CacheException if another client does not finish to clear it
     */
    void ensure(String cacheName, int cacheId, String generation) {
        final int own = own();
        final byte[] key = keyOf(cacheId);
        final long untilNs = clock.nanoTime() + PATIENCE_NS;
        while (true) {
            final VersionedValue found = client.getVersioned(own, key);
            final byte[] state = found.value();
            if (state != null && state[0] == DONE && text(state).equals(generation)) {
                return;
            }
            if (state != null && state[0] == CLAIMED && !isVoid(state)) {
                await(cacheName, state, untilNs);
            } else if (change(cacheName, cacheId, own, key, found, generation)) {
                return;
            }
        }
    }

    private int own() {
        final Catalogue.CacheRecord record = client.catalogue().create(CACHE, new byte[0]);
        if (record.descriptor().length > 0) {
            throw new CacheException(
                    "the name " + CACHE + " is needed for the generations of caches, and an application"
                            + " has a cache of that name: destroy it, or use no generations");
        }
        return record.id();
    }

    /** Forgets a destroyed cache; ids are never used again. */
    void forget(int cacheId) {
        final Catalogue.CacheRecord own = client.catalogue().find(CACHE);
        if (own != null && own.descriptor().length == 0) {
            final WriteResult unused = client.remove(own.id(), keyOf(cacheId));
        }
    }

    /** Says that another id has the content of a cache from now on, and so its generation. */
    public static void copy(RowanClient client, int cacheId, int newId) {
        final Catalogue.CacheRecord own = client.catalogue().find(CACHE);
        if (own != null && own.descriptor().length == 0) {
            final byte[] state = client.get(own.id(), keyOf(cacheId));
            if (state != null) {
                final WriteResult unused = client.put(own.id(), keyOf(newId), state);
            }
        }
    }

    private static byte[] keyOf(int cacheId) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(cacheId).array();
    }

    private byte[] state(byte state, String generation) {
        final byte[] text = generation.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(1 + Long.BYTES + text.length)
                .put(state)
                .putLong(clock.wallMs())
                .put(text)
                .array();
    }

    private static String text(byte[] state) {
        return new String(state, 1 + Long.BYTES, state.length - 1 - Long.BYTES, StandardCharsets.UTF_8);
    }

    private static long claimedMs(byte[] state) {
        return ByteBuffer.wrap(state).getLong(1);
    }

    private boolean isVoid(byte[] claim) {
        return isAlone || clock.wallMs() - claimedMs(claim) > CLAIM_MS;
    }

    private void await(String cacheName, byte[] claim, long untilNs) {
        if (clock.nanoTime() - untilNs > 0) {
            throw new CacheException("the cache " + cacheName + " is being cleared for the generation \"" + text(claim)
                    + "\" by a client that does not finish. If that client has ended, open the cache after "
                    + Instant.ofEpochMilli(claimedMs(claim) + CLAIM_MS) + ": it is then cleared by the next client");
        }
        LockSupport.parkNanos(this, PAUSE_NS);
    }

    /** Whether this client has made the change; else another one was faster. */
    private boolean change(
            String cacheName, int cacheId, int own, byte[] key, VersionedValue found, String generation) {
        final byte @Nullable [] before = found.value();
        final byte[] claim = state(CLAIMED, generation);
        final WriteResult claimed = before == null
                ? client.putIfAbsent(own, key, claim)
                : client.replaceIfVersion(own, key, claim, found.version());
        if (!claimed.applied()) {
            return false;
        }
        client.clear(cacheId);
        LOG.info(
                "Cache cleared for a new generation cache={} generation={} before={}",
                cacheName,
                generation,
                before == null ? "" : text(before));
        return client.replaceIfVersion(own, key, state(DONE, generation), claimed.version())
                .applied();
    }
}
