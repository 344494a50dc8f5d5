package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.PageDescriptor;
import org.rowankv.protocol.wire.ScanRequestDescriptor;

/** Request for a page of a scan. Read it after the response has arrived. */
final class PageRequest implements ControlRequest {
    private final long term;
    private final int cacheId;
    private final int shard;
    private final long position;
    private final int limit;
    private final boolean withValues;
    private final List<ScanPage.Entry> entries = new ArrayList<>();
    private Status status = Status.NO_REPLY;
    private long next;
    private boolean last;

    PageRequest(long term, int cacheId, int shard, long position, int limit, boolean withValues) {
        this.term = term;
        this.cacheId = cacheId;
        this.shard = shard;
        this.position = position;
        this.limit = limit;
        this.withValues = withValues;
    }

    @Override
    public int shard() {
        return shard;
    }

    @Override
    public void write(FrameEncoder out, long number) {
        ScanRequestDescriptor.write(out, number, term, cacheId, shard, position, limit, withValues);
    }

    @Override
    public void read(ByteBuffer buffer, int at, int length) throws WireException {
        NetSession.requireType(buffer, at, ClientFrameDescriptor.PAGE);
        PageDescriptor.check(buffer, at, length);
        status = PageDescriptor.status(buffer, at);
        next = PageDescriptor.next(buffer, at);
        last = PageDescriptor.isLast(buffer, at);
        PageDescriptor.read(
                buffer,
                at,
                (version, key, value, omitted) ->
                        entries.add(new ScanPage.Entry(key, omitted ? null : value, version)));
    }

    Status status() {
        return status;
    }

    ScanPage page() {
        return new ScanPage(entries, next, last);
    }
}
