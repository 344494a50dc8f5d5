package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionTable;
import org.rowankv.server.shard.ShardReplica;

/** Counts the charged live bytes in a server's segments by reading all of them. */
public final class LiveBytes implements SegmentScan.Visitor {
    private final Server server;
    private final byte[] scratch = new byte[1 << 16];
    private long live;

    public LiveBytes(Server server) {
        this.server = server;
    }

    public long count() {
        final Segments segments = server.segments();
        final SegmentScan scan = new SegmentScan(segments.region());
        for (int s = 0; s < segments.count(); s++) {
            if (segments.state(s) != SegmentState.FREE) {
                scan.scan(segments.area().addressOf(s), segments.length(), segments.generation(s), this);
            }
        }
        return live;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        if (EntryType.isTombstone(type)
                || EntryType.holdsObject(type) && isIndexed(buffer, at, address)
                || isOfSession(buffer, at, address, type)) {
            live += server.segments().charge(length);
        }
    }

    private ShardReplica replicaOf(ByteBuffer buffer, int at) {
        return server.replicas().get(EntryDescriptor.shard(buffer, at));
    }

    private boolean isIndexed(ByteBuffer buffer, int at, long address) {
        final ShardReplica replica = replicaOf(buffer, at);
        return replica.index().refers(replica.positionOf(buffer, at, scratch), address);
    }

    /** Whether the entry opened a session that is open, or holds a completion that a caller may still request. */
    private boolean isOfSession(ByteBuffer buffer, int at, long address, int type) {
        if (!EntryType.holdsObject(type) && type != EntryType.SESSION_OPEN && type != EntryType.COMPLETION) {
            return false;
        }
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        if (sessionId == 0) {
            return false;
        }
        final SessionTable sessions = replicaOf(buffer, at).sessions(sessionId);
        return type == EntryType.SESSION_OPEN
                ? sessions.isOpening(sessionId, address)
                : sessions.isNeeded(sessionId, EntryDescriptor.sequence(buffer, at, flags), address);
    }

    @Override
    public void onInvalid(long address, String reason) {
        throw new AssertionError(reason);
    }
}
