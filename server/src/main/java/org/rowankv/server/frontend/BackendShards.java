package org.rowankv.server.frontend;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardReplica;

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
    public boolean isOpening(int shard) {
        return server.roleChanges().isUnopened(shard);
    }

    @Override
    public void observe(Runnable observer) {
        server.roleChanges().observe(observer);
    }

    @Override
    public boolean isServing() {
        return server.isServing();
    }

    @Override
    public boolean mayAnswer() {
        return server.requests().mayAnswer();
    }

    @Override
    public @Nullable ShardChanges changes(int shard) {
        final ShardReplica replica = server.replicas().find(shard);
        return replica == null ? null : replica.changes();
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
        final ShardReplica replica = server.replicas().find(shard);
        return replica != null && replica.clears().isDestroyed(cacheId);
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
