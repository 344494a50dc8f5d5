package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.FoundEntry;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

/** Executes requests on servers in this JVM, completely on the calling thread. */
final class InProcessSession implements Session {
    /** A value that the index of a server in this JVM proves current. */
    private static final class IndexedValue<V> extends FoundEntry implements ValidatedValue<V> {
        private final RequestDispatch server;
        private final V value;
        private final long version;
        private final int bytes;

        IndexedValue(RequestDispatch server, ShardReplica replica, Request read, V value, int bytes) {
            super(replica, read);
            this.server = server;
            this.value = value;
            this.version = read.version();
            this.bytes = bytes;
        }

        @Override
        public @Nullable V ifCurrent() {
            return server.isCurrent(this) ? value : null;
        }

        @Override
        public @Nullable V ofVersion(long wanted) {
            return version == wanted ? value : null;
        }

        @Override
        public long objectVersion() {
            return version;
        }

        @Override
        public int bytes() {
            return bytes;
        }
    }

    private final Configuration configuration;
    private final Catalogue catalogue;
    private final Server[] primaries;
    /** Dispatch of each shard's primary. */
    private final RequestDispatch[] requests;

    private volatile boolean closed;

    InProcessSession(Configuration configuration, List<Server> servers, Catalogue catalogue) {
        this.configuration = configuration;
        this.catalogue = catalogue;
        this.primaries = new Server[configuration.shardCount()];
        this.requests = new RequestDispatch[configuration.shardCount()];
        for (int shard = 0; shard < primaries.length; shard++) {
            primaries[shard] = servers.get(configuration.shard(shard).primary());
            requests[shard] = primaries[shard].requests();
        }
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    /** False: after an error in the middle of a request, the caller does not retry. */
    @Override
    public boolean needsRequestIds() {
        return false;
    }

    @Override
    public void call(Request request) {
        final int shard = request.shard();
        if (shard < 0 || shard >= requests.length) {
            request.noResult();
            request.answer(Status.BAD_REQUEST, 0, 0, 0);
            return;
        }
        try {
            requests[shard].call(request);
        } catch (NotServedException e) {
            throw refusal(e);
        }
    }

    @Override
    public <V> @Nullable ValidatedValue<V> validated(Request read, V value, int bytes) {
        if (!read.isFound()) {
            return null;
        }
        final RequestDispatch server = requests[read.shard()];
        final ShardReplica replica = server.servedReplica(read.shard());
        return replica == null ? null : new IndexedValue<>(server, replica, read, value, bytes);
    }

    /** Converts to the driver's exception. */
    private static RowanException refusal(NotServedException why) {
        final Throwable cause = why.getCause();
        return new RowanException(why.status(), String.valueOf(why.getMessage()), cause == null ? why : cause);
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        if (closed) {
            throw new RowanException(Status.CLOSED, "the store is closed");
        }
        final List<ScanPage.Entry> entries = new ArrayList<>();
        long next = position;
        try {
            do {
                next = primaries[shard].scan(
                        cacheId,
                        shard,
                        next,
                        withValues,
                        (key, value, version, expiryMs) -> entries.add(new ScanPage.Entry(key, value, version)));
            } while (next != 0 && entries.size() < limit);
        } catch (NotServedException e) {
            throw refusal(e);
        }
        return new ScanPage(entries, next, next == 0);
    }

    @Override
    public Catalogue catalogue() {
        return catalogue;
    }

    @Override
    public void close() {
        closed = true;
    }
}
