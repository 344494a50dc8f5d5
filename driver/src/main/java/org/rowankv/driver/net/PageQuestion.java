package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.FrameWriter;
import org.rowankv.protocol.wire.PageDescriptor;
import org.rowankv.protocol.wire.PageDescriptor.PageObject;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.protocol.wire.ScanDescriptor;
import org.rowankv.topology.KeyHash;

/** Asks for a page of a scan. Read after the answer has come. */
final class PageQuestion implements Question {
    private final long term;
    private final int cacheId;
    private final int shard;
    private final long position;
    private final int limit;
    private final boolean withValues;
    private final KeyHash keyHash;
    private final List<PageObject> objects = new ArrayList<>();
    private Status status = Status.NO_REPLY;
    private long next;
    private boolean last;

    PageQuestion(Route route, int cacheId, int shard, long position, int limit, boolean withValues) {
        this.term = route.term();
        this.keyHash = new KeyHash(route.configuration().hashSeed());
        this.cacheId = cacheId;
        this.shard = shard;
        this.position = position;
        this.limit = limit;
        this.withValues = withValues;
    }

    @Override
    public void write(FrameWriter out, long number) {
        ScanDescriptor.write(out, number, term, cacheId, shard, position, limit, withValues);
    }

    @Override
    public void read(ByteBuffer buffer, int at, int length) throws ProtocolException {
        NetSession.requireType(buffer, at, FrameDescriptor.PAGE);
        PageDescriptor.check(buffer, at, length);
        status = PageDescriptor.status(buffer, at);
        next = PageDescriptor.next(buffer, at);
        last = PageDescriptor.isLast(buffer, at);
        PageDescriptor.read(
                buffer,
                at,
                (version, key, value, omitted) -> objects.add(new PageObject(version, key, value, omitted)));
    }

    Status status() {
        return status;
    }

    /** @param reader reads the value of an object that was too long for the page */
    ScanPage page(Function<Request, byte @Nullable []> reader) {
        final List<ScanPage.Entry> entries = new ArrayList<>(objects.size());
        for (PageObject object : objects) {
            if (!object.omitted()) {
                entries.add(new ScanPage.Entry(object.key(), object.value(), object.version()));
                continue;
            }
            final Request get = new Request().get(cacheId, object.key(), 0, object.key().length);
            get.placed(keyHash.hash(cacheId, object.key(), 0, object.key().length), shard);
            final byte[] value = reader.apply(get);
            if (value != null) {
                entries.add(new ScanPage.Entry(object.key(), value, get.version()));
            }
        }
        return new ScanPage(entries, next, last);
    }
}
