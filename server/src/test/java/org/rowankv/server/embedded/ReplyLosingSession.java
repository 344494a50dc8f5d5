package org.rowankv.server.embedded;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** Forwards every request, and loses some of the replies. */
record ReplyLosingSession(Session below, IntPredicate loses, AtomicInteger calls) implements ForwardingSession {
    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public void call(Request request) {
        below.call(request);
        if (loses.test(calls.incrementAndGet())) {
            request.noResult();
            request.answer(Status.NO_REPLY, 0, 0, 0);
        }
    }
}
