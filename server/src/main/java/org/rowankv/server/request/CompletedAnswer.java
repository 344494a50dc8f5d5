package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.Completion;
import org.rowankv.server.shard.ShardReplica;

/** The response to a retry of an applied mutation, from its completion and the entry behind it. */
final class CompletedAnswer {
    private final Segments segments;
    private final EntryCheck check;

    CompletedAnswer(Segments segments) {
        this.segments = segments;
        this.check = new EntryCheck(segments.region());
    }

    void replay(ShardReplica shard, Completion completion, Request request) {
        request.noResult();
        final int bits = completion.bits() & ~ResultBits.IN_PARTS;
        if (!completion.isApplied()) {
            request.answer(completion.status(), bits | ResultBits.REPLAYED, completion.version(), 0);
            return;
        }
        if (request.needsValue()
                && ResultBits.has(bits, ResultBits.EXISTED)
                && !copyOldValue(shard, completion, request)) {
            // Applied, so not CORRUPTED, which means no effect. A retry is answered if the entry is repaired by then.
            request.noResult();
            request.answer(Status.NO_REPLY, 0, 0, 0);
            return;
        }
        // A touch answers with the object's version, which its condition named.
        final long version = request.operation() == Operation.TOUCH ? request.expectedVersion() : completion.version();
        request.answer(Status.OK, bits | ResultBits.REPLAYED, version, completion.previousVersion());
    }

    /** False if the entry behind the completion is damaged, and with it perhaps the old value. */
    private boolean copyOldValue(ShardReplica shard, Completion completion, Request request) {
        for (Completion now = completion;
                now != null;
                now = shard.sessions(request.sessionId()).find(request.sessionId(), request.sequence())) {
            final long address = now.address();
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.sessions(request.sessionId()).isNeeded(request.sessionId(), request.sequence(), address)) {
                continue; // the cleaner has just moved it, or the client has the response by now
            }
            readOldValue(segments.region().buffer(address), segments.region().offset(address), request);
            // Checked after the copy: whole then, whole before.
            final String reason =
                    check.whyInvalid(address, segments.area().addressOf(segment) + segments.length(), generation);
            VarHandle.acquireFence();
            if (segments.generation(segment) == generation) {
                if (reason != null) {
                    segments.damage().suspect(segment, generation);
                }
                return reason == null && !segments.damage().isLost(address, generation);
            }
            request.noResult();
        }
        return true;
    }

    /** Reads each length once: the segment may have been reused, and hold anything. */
    private static void readOldValue(ByteBuffer buffer, int at, Request request) {
        final int length = FrameDescriptor.length(FrameDescriptor.wordAcquire(buffer, at));
        if (at + length > buffer.capacity() || EntryDescriptor.whyMalformed(buffer, at, length) != null) {
            return;
        }
        final int flags = EntryDescriptor.flags(buffer, at);
        final int oldLength = EntryDescriptor.oldValueLength(buffer, at, flags);
        final int oldAt = at
                + EntryDescriptor.headerLength(flags)
                + EntryDescriptor.keyLength(buffer, at)
                + EntryDescriptor.valueLength(buffer, at);
        if (oldLength >= 0 && oldAt >= at && oldAt - at <= length - oldLength) {
            buffer.get(oldAt, request.resultOf(oldLength), 0, oldLength);
        }
    }
}
