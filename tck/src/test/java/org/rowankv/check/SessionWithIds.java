package org.rowankv.check;

import java.util.function.Consumer;
import org.rowankv.driver.Catalogue;
import org.rowankv.driver.ScanPage;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.protocol.Request;

/** Promises nothing about replies, as one over a network: so its clients' mutations have request ids. */
record SessionWithIds(Session below) implements Session {
    @Override
    public Configuration configuration() {
        return below.configuration();
    }

    @Override
    public boolean mayLoseReplies() {
        return true;
    }

    @Override
    public void call(Request request) {
        below.call(request);
    }

    @Override
    public void submit(Request request, Consumer<Request> whenAnswered) {
        below.submit(request, whenAnswered);
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        return below.scan(cacheId, shard, position, limit, withValues);
    }

    @Override
    public Catalogue catalogue() {
        return below.catalogue();
    }

    @Override
    public void close() {
        // Whoever opened the one below closes it.
    }
}
