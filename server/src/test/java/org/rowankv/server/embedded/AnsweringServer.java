package org.rowankv.server.embedded;

import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.frontend.RequestBackend;

/** Backend stub: a read finds a value of a fixed length, a mutation succeeds unless it is stuck. */
class AnsweringServer implements RequestBackend {
    static final int LONGEST_ENTRY = 1 << 20;

    private final int valueLength;
    volatile boolean stuck;

    AnsweringServer(int valueLength) {
        this.valueLength = valueLength;
    }

    @Override
    public int serverId() {
        return 0;
    }

    @Override
    public int longestEntry() {
        return LONGEST_ENTRY;
    }

    @Override
    public PollableCalls calls(int loop, int loops) {
        return this::callOf;
    }

    private PollableCall callOf(Request request) {
        return new StubCall() {
            @Override
            public boolean step() {
                if (stuck && request.operation() == Operation.PUT) {
                    return false;
                }
                request.noResult();
                if (request.operation() == Operation.GET) {
                    final byte[] unused = request.resultOf(valueLength);
                }
                request.answer(Status.OK, 0, 1, 0);
                return true;
            }
        };
    }

    @Override
    public boolean isPrimary(int shard) {
        return true;
    }

    @Override
    public boolean isServing() {
        return true;
    }

    @Override
    public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
        return 0;
    }
}
