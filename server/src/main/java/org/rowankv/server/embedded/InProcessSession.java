package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.dispatch.WaitLimit;
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

    private final Supplier<Configuration> configuration;
    private final Catalogue catalogue;
    private final List<Server> servers;
    /**
     * By shard, the server that was its primary when it was last looked for. Unsynchronized: one that is not any more
     * refuses, and any of them may be read.
     */
    private final Server[] primaries;

    private final Clock clock;
    private final long deadlineNs;

    private volatile boolean closed;

    /** @param deadlineNs how long a request waits for a shard whose primary moves */
    InProcessSession(
            Supplier<Configuration> configuration,
            List<Server> servers,
            Catalogue catalogue,
            Clock clock,
            long deadlineNs) {
        final Configuration first = configuration.get();
        this.configuration = configuration;
        this.catalogue = catalogue;
        this.servers = servers;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.primaries = new Server[first.shardCount()];
        for (int shard = 0; shard < primaries.length; shard++) {
            primaries[shard] = servers.get(first.shard(shard).primary());
        }
    }

    @Override
    public Configuration configuration() {
        return configuration.get();
    }

    /** False: after an error in the middle of a request, the caller does not retry. */
    @Override
    public boolean needsRequestIds() {
        return false;
    }

    @Override
    public void call(Request request) {
        final int shard = request.shard();
        if (shard < 0 || shard >= primaries.length) {
            request.noResult();
            request.answer(Status.BAD_REQUEST, 0, 0, 0);
            return;
        }
        try {
            primaries[shard].requests().call(request);
            if (request.status() == Status.NOT_PRIMARY || isWorthRepeating(request)) {
                callAgain(request);
            }
        } catch (NotServedException e) {
            throw refusal(e);
        }
    }

    /** A damaged entry may be replaced; but the answer to a mutation with an id is remembered, and is its sender's. */
    private static boolean isWorthRepeating(Request request) {
        return request.mayBeRepaired()
                && (request.sessionId() == 0 || !request.operation().isMutation());
    }

    /** Nothing of it was begun. */
    private void callAgain(Request request) {
        final Moving moving = new Moving(request.shard());
        final WaitLimit repair = new WaitLimit(clock, deadlineNs);
        long waits = 0;
        do {
            if (request.status() == Status.NOT_PRIMARY) {
                moving.await();
            } else if (repair.isOver()) {
                return;
            } else {
                primaries[request.shard()].requests().rest(waits++);
            }
            request.clearAnswer();
            primaries[request.shard()].requests().call(request);
        } while (request.status() == Status.NOT_PRIMARY || isWorthRepeating(request));
    }

    /** The wait for the next primary of a shard, which is being opened. */
    private final class Moving {
        private final int shard;
        private final WaitLimit limit = new WaitLimit(clock, deadlineNs);
        private long waits;

        Moving(int shard) {
            this.shard = shard;
        }

        /** Waits until a server is the primary, or one is closed, which refuses. */
        void await() {
            while (true) {
                for (Server server : servers) {
                    if (server.isPrimary(shard) || !server.isServing()) {
                        primaries[shard] = server;
                        return;
                    }
                }
                if (limit.isOver()) {
                    throw new RowanException(
                            Status.UNREACHABLE,
                            "the next primary of shard " + shard + " has not opened it for " + deadlineNs / 1_000_000
                                    + " ms; the operation was not begun");
                }
                primaries[shard].requests().rest(waits++);
            }
        }
    }

    @Override
    public <V> @Nullable ValidatedValue<V> validated(Request read, V value, int bytes) {
        if (!read.isFound()) {
            return null;
        }
        final RequestDispatch server = primaries[read.shard()].requests();
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
                next = bucket(cacheId, shard, next, withValues, entries);
            } while (next != 0 && entries.size() < limit);
        } catch (NotServedException e) {
            throw refusal(e);
        }
        return new ScanPage(entries, next, next == 0);
    }

    private long bucket(int cacheId, int shard, long position, boolean withValues, List<ScanPage.Entry> entries) {
        final int before = entries.size();
        Moving moving = null;
        while (true) {
            try {
                return primaries[shard].scan(
                        cacheId,
                        shard,
                        position,
                        withValues,
                        (key, value, version, expiryMs) -> entries.add(new ScanPage.Entry(key, value, version)));
            } catch (NotServedException e) {
                if (e.status() != Status.NOT_PRIMARY) {
                    throw e;
                }
            }
            entries.subList(before, entries.size()).clear(); // void
            if (moving == null) {
                moving = new Moving(shard);
            }
            moving.await();
        }
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
