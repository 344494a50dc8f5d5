package org.rowankv.server.frontend;

import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardChanges;

/** The shards of a server. */
public final class BackendShards implements RequestBackend {
    private final Server server;

    public BackendShards(Server server) {
        this.server = server;
    }

    @Override
    public int serverId() {
        return server.serverId();
    }

    @Override
    public int longestEntry() {
        return server.segments().length();
    }

    @Override
    public PollableCalls calls(int loop, int loops) {
        return server.callsOfLoop(loop, loops);
    }

    @Override
    public boolean isPrimary(int shard) {
        return server.isPrimary(shard);
    }

    @Override
    public boolean isServing() {
        return server.isServing();
    }

    @Override
    public ShardChanges changes(int shard) {
        return server.replicas().get(shard).changes();
    }

    @Override
    public long lastVersion(int shard) {
        return server.lastVersion(shard);
    }

    @Override
    public long finishedVersion(int shard) {
        return server.finishedVersion(shard);
    }

    @Override
    public boolean isDestroyed(int shard, int cacheId) {
        return server.replicas().get(shard).clears().isDestroyed(cacheId);
    }

    @Override
    public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
        return server.scan(
                cacheId,
                shard,
                position,
                withValues,
                (key, value, version, expiryMs) -> visitor.onObject(key, value, version));
    }
}
