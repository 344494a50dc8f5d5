package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import org.rowankv.server.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.SegmentState;
import org.rowankv.server.shard.ShardReplica;

/** Counts what lives, by its charge, in a server's segments by reading all of them. No session is open. */
final class LiveBytes implements SegmentScan.Visitor {
    private final Server server;
    private final byte[] scratch = new byte[1 << 16];
    private long live;

    LiveBytes(Server server) {
        this.server = server;
    }

    long count() {
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
        if (EntryType.isTombstone(type)) {
            live += server.segments().charge(length);
        } else if (EntryType.holdsObject(type)) {
            final ShardReplica replica = server.replicas().get(EntryDescriptor.shard(buffer, at));
            if (replica.index().refers(replica.positionOf(buffer, at, scratch), address)) {
                live += server.segments().charge(length);
            }
        }
    }

    @Override
    public void onInvalid(long address, String reason) {
        throw new AssertionError(reason);
    }
}
