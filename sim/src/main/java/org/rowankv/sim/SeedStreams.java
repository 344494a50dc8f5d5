package org.rowankv.sim;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.sim.service.StreamServers;
import org.rowankv.sim.service.VisibleObject;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.SimValues;

/** The servers of a run, as seen by subscribers of the changes of the clients' first cache. */
public abstract class SeedStreams implements StreamServers {
    /** Bytes of a reply. */
    private static final int FRAME = 1 << 20;

    /** The replies of a server. @param term of its configuration */
    public record OfServer(RequestBackend served, LongSupplier term) implements PendingChangesRequest.Source {
        @Override
        public Status whyNotServed(int shard, long clientTerm) {
            final long own = term.getAsLong();
            if (!served.isServing()) {
                return Status.CLOSED;
            }
            if (clientTerm > own) {
                return Status.NOT_PRIMARY;
            }
            return served.isPrimary(shard) ? Status.OK : clientTerm < own ? Status.STALE_TERM : Status.NOT_PRIMARY;
        }

        @Override
        public int maxFrame() {
            return FRAME;
        }
    }

    private final SeedRun run;
    private final SimValues values;
    private final Map<ByteBuffer, Integer> keys = new HashMap<>();

    protected SeedStreams(SeedRun run) {
        this.run = run;
        this.values = run.plan().values();
    }

    private CacheLife first() {
        return run.workload().caches().first();
    }

    @Override
    public final int cacheId() {
        return first().id();
    }

    @Override
    public final int keyOf(byte[] key) {
        for (int number = keys.size(); number < first().keys(); number++) {
            keys.put(ByteBuffer.wrap(CacheLife.keyBytes(number)), number);
        }
        return keys.getOrDefault(ByteBuffer.wrap(key), -1);
    }

    @Override
    public final int shardOf(int key) {
        return first().shardOf(key);
    }

    @Override
    public final long valueOf(byte[] value) {
        return values.idIn(value, value.length);
    }

    @Override
    public final long visibleVersion(int number, int shard, byte[] key) {
        final Server server = serving(number);
        return server == null || !server.isPrimary(shard) // it moves
                ? Version.NONE
                : VisibleObject.version(server, shard, cacheId(), run.hashOf(cacheId(), key, 0, key.length), key);
    }

    /** The running server of that number, or null. */
    protected abstract @Nullable Server serving(int number);
}
