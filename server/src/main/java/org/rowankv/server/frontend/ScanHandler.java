package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.PageDescriptor;
import org.rowankv.protocol.wire.PageDescriptor.PageObject;
import org.rowankv.protocol.wire.ScanRequestDescriptor;
import org.rowankv.server.dispatch.NotServedException;

/**
 * Answers scans page by page. The size of a page bounds its share of the loop's time: a page may be empty and not the
 * last. A value that would make it too long is omitted. Owned by one loop.
 */
final class ScanHandler {
    private static final int MAX_OBJECTS = 1_024;
    private static final int MAX_POSITIONS = 2_048;
    private static final int MAX_BYTES = 256 << 10;

    private final ClientPort port;
    private final List<PageObject> objects = new ArrayList<>();
    private long bytes;

    ScanHandler(ClientPort port) {
        this.port = port;
    }

    void answer(ByteBuffer buffer, int at, int length, FrameEncoder out) throws WireException {
        ScanRequestDescriptor.check(buffer, at, length);
        final long number = FrameHeadDescriptor.number(buffer, at);
        final int shard = ScanRequestDescriptor.shard(buffer, at);
        final int limit = Math.min(MAX_OBJECTS, ScanRequestDescriptor.limit(buffer, at));
        final int cacheId = ScanRequestDescriptor.cacheId(buffer, at);
        final boolean withValues = ScanRequestDescriptor.withValues(buffer, at);
        Status refused = port.whyNotServed(shard, ScanRequestDescriptor.term(buffer, at));
        objects.clear();
        bytes = 0;
        long next = ScanRequestDescriptor.position(buffer, at);
        if (refused == Status.OK) {
            try {
                int positions = 0;
                do {
                    next = port.served().scan(cacheId, shard, next, withValues, this::add);
                    positions++;
                } while (next != 0 && objects.size() < limit && bytes < MAX_BYTES && positions < MAX_POSITIONS);
            } catch (NotServedException e) {
                refused = e.status();
                objects.clear(); // the last of them may not be this server's to show
            }
        }
        PageDescriptor.write(out, number, refused, objects, next);
        objects.clear();
    }

    private void add(byte[] key, byte @org.jspecify.annotations.Nullable [] value, long version) {
        final boolean omitted = value != null && bytes + value.length > 2L * MAX_BYTES;
        final PageObject object = new PageObject(version, key, omitted ? null : value, omitted);
        objects.add(object);
        bytes += object.length();
    }
}
