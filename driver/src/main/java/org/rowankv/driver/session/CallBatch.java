package org.rowankv.driver.session;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.Request;

/** Requests of one caller that are under way together. For one thread. */
final class CallBatch implements AutoCloseable {
    private record Call(Request request, NetConnection connection, Exchange exchange) {}

    private final long deadlineNs;
    private final long attemptNs;
    private final List<Call> calls = new ArrayList<>();
    private final List<NetConnection> unflushed = new ArrayList<>();

    CallBatch(long deadlineNs, long attemptNs) {
        this.deadlineNs = deadlineNs;
        this.attemptNs = attemptNs;
    }

    /** Queues one more; waits for those before it when there is no place for it. */
    void add(Request request, NetConnection connection, long term) {
        Exchange exchange = connection.tryBorrow();
        if (exchange == null) {
            finish();
            exchange = connection.borrow(deadlineNs);
        }
        if (exchange == null) {
            NetSession.answer(request, org.rowankv.protocol.Status.UNREACHABLE);
            return;
        }
        calls.add(new Call(request, connection, exchange));
        if (!NetSession.send(request, connection, exchange, term)) {
            calls.remove(calls.size() - 1);
        } else if (!unflushed.contains(connection)) {
            unflushed.add(connection);
        }
    }

    /** Sends what is queued, and waits for all answers. */
    void finish() {
        unflushed.forEach(NetConnection::flush);
        unflushed.clear();
        while (!calls.isEmpty()) {
            final Call call = calls.remove(calls.size() - 1);
            NetSession.receive(call.request(), call.connection(), call.exchange(), deadlineNs, attemptNs);
        }
    }

    /** After an error: nobody touches the requests any more. */
    @Override
    public void close() {
        calls.forEach(call -> call.connection().abandon(call.exchange()));
        calls.clear();
    }
}
