package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.Completion;
import org.rowankv.server.shard.ShardReplica;

/** The response to a retry of an applied mutation, from its completion and the entry behind it. */
final class CompletedAnswer {
    private final Segments segments;

    CompletedAnswer(Segments segments) {
        this.segments = segments;
    }

    void replay(ShardReplica shard, Completion completion, Request request) {
        request.noResult();
        final int bits = completion.bits() & ~ResultBits.IN_PARTS;
        if (completion.isApplied() && request.needsValue() && ResultBits.has(bits, ResultBits.EXISTED)) {
            copyOldValue(shard, completion, request);
        }
        if (!completion.isApplied()) {
            request.answer(completion.status(), bits | ResultBits.REPLAYED, completion.version(), 0);
            return;
        }
        // A touch answers with the object's version, which its condition named.
        final long version = request.operation() == Operation.TOUCH ? request.expectedVersion() : completion.version();
        request.answer(Status.OK, bits | ResultBits.REPLAYED, version, completion.previousVersion());
    }

    private void copyOldValue(ShardReplica shard, Completion completion, Request request) {
        for (Completion now = completion;
                now != null;
                now = shard.sessions(request.sessionId()).find(request.sessionId(), request.sequence())) {
            final long address = now.address();
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.sessions(request.sessionId()).isNeeded(request.sessionId(), request.sequence(), address)) {
                continue; // the cleaner has just moved it, or the client has the response by now
            }
            final ByteBuffer buffer = segments.region().buffer(address);
            final int at = segments.region().offset(address);
            final int length = FrameDescriptor.length(FrameDescriptor.wordAcquire(buffer, at));
            if (at + length <= buffer.capacity() && EntryDescriptor.whyMalformed(buffer, at, length) == null) {
                final int flags = EntryDescriptor.flags(buffer, at);
                final int oldLength = EntryDescriptor.oldValueLength(buffer, at, flags);
                if (oldLength >= 0) {
                    final int oldAt = at
                            + EntryDescriptor.headerLength(flags)
                            + EntryDescriptor.keyLength(buffer, at)
                            + EntryDescriptor.valueLength(buffer, at);
                    buffer.get(oldAt, request.resultOf(oldLength), 0, oldLength);
                }
            }
            VarHandle.acquireFence();
            if (segments.generation(segment) == generation) {
                return;
            }
            request.noResult();
        }
    }
}
