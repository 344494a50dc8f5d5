package org.rowankv.server.client;

import org.rowankv.protocol.Request;
import org.rowankv.server.Server;
import org.rowankv.server.SteppedCall;

/** The shards of a server. */
final class ServedShards implements Served {
    private final Server server;

    ServedShards(Server server) {
        this.server = server;
    }

    private record ServerCall(SteppedCall call) implements Call {
        @Override
        public void again() {
            call.again();
        }

        @Override
        public boolean step() {
            return call.step();
        }

        @Override
        public boolean awaitsWorker() {
            return call.awaitsWorker();
        }

        @Override
        public void giveUp() {
            call.giveUp();
        }
    }

    @Override
    public int serverId() {
        return server.serverId();
    }

    @Override
    public Call callOf(Request request) {
        return new ServerCall(server.stepped(request));
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
    public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
        return server.scan(cacheId, shard, position, withValues, visitor::onObject);
    }
}
