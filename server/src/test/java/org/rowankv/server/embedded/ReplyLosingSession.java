package org.rowankv.server.embedded;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.rowankv.driver.Catalogue;
import org.rowankv.driver.ScanPage;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** Carries every request, and loses some of the replies. */
record ReplyLosingSession(Session session, IntPredicate loses, AtomicInteger calls) implements Session {
    @Override
    public Configuration configuration() {
        return session.configuration();
    }

    @Override
    public boolean mayLoseReplies() {
        return true;
    }

    @Override
    public void call(Request request) {
        session.call(request);
        if (loses.test(calls.incrementAndGet())) {
            request.noResult();
            request.answer(Status.NO_REPLY, 0, 0, 0);
        }
    }

    @Override
    public void submit(Request request, Consumer<Request> whenAnswered) {
        call(request);
        whenAnswered.accept(request);
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        return session.scan(cacheId, shard, position, limit, withValues);
    }

    @Override
    public Catalogue catalogue() {
        return session.catalogue();
    }

    @Override
    public void close() {
        // The session is its owner's.
    }
}
