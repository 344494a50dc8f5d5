package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.rowankv.driver.stream.ChangeCursor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;

/** Request for changes from a server. Read it after the response has arrived. */
public final class ChangesRequest implements ControlRequest {
    private final long term;
    private final int waitMs;
    private final List<ChangeCursor> cursors;
    /** By cursor; copied, because a cursor may advance meanwhile. */
    private final long[] positions;

    private List<Section> sections = List.of();

    /** @param cursors of shards whose primary is the server; at most as many as a request permits */
    public ChangesRequest(long term, int waitMs, List<ChangeCursor> cursors) {
        this(term, waitMs, cursors, ChangeCursor::position);
    }

    /** Registers interest from now on, and requests the current position. */
    public static ChangesRequest fromNow(long term, List<ChangeCursor> cursors) {
        return new ChangesRequest(term, 0, cursors, unused -> ChangesRequestDescriptor.FROM_NOW);
    }

    private ChangesRequest(long term, int waitMs, List<ChangeCursor> cursors, ToLongFunction<ChangeCursor> position) {
        this.term = term;
        this.waitMs = waitMs;
        this.cursors = new ArrayList<>(cursors);
        this.positions = cursors.stream().mapToLong(position).toArray();
    }

    @Override
    public int shard() {
        return CONFIGURATION;
    }

    @Override
    public void write(FrameEncoder out, long number) {
        final int at = ChangesRequestDescriptor.begin(out, number, term, waitMs, positions.length);
        for (int i = 0; i < positions.length; i++) {
            final ChangeCursor cursor = cursors.get(i);
            ChangesRequestDescriptor.section(
                    out, at, i, positions[i], cursor.cacheId(), cursor.shard(), cursor.needsOldValues());
        }
        ChangesRequestDescriptor.end(out, at);
    }

    @Override
    public void read(ByteBuffer buffer, int at, int length) throws WireException {
        NetSession.requireType(buffer, at, ClientFrameDescriptor.CHANGES);
        ChangesDescriptor.check(buffer, at, length, positions.length);
        sections = ChangesDescriptor.read(buffer, at);
    }

    public List<Section> sections() {
        return sections;
    }

    public ChangeCursor cursor(Section section) {
        return cursors.get(section.index());
    }
}
