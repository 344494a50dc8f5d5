package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.CatalogueDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;

/**
 * Catalogue of caches, served by any server that responds. It repeats a request whose response is lost: its effects are
 * idempotent, but a repeated {@link #destroy} may report that the cache does not exist.
 */
final class NetCatalogue implements Catalogue {
    private static final byte[] NOTHING = {};
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int ATTEMPTS = 4;

    private final NetSession session;

    NetCatalogue(NetSession session) {
        this.session = session;
    }

    private record CatalogueRequest(Asked asked, Cache cache, List<Answer> answers) implements ControlRequest {
        @Override
        public void write(FrameEncoder out, long number) {
            CatalogueDescriptor.writeAsked(out, number, asked, cache);
        }

        @Override
        public void read(ByteBuffer buffer, int at, int length) throws WireException {
            NetSession.requireType(buffer, at, ClientFrameDescriptor.CATALOGUE_ANSWER);
            answers.add(CatalogueDescriptor.readAnswer(buffer, at, length));
        }
    }

    private long deadlineNs() {
        return session.clock().nanoTime() + ATTEMPTS * session.settings().attemptNs();
    }

    private Answer sendToAny(Asked asked, Cache cache) {
        final long deadlineNs = deadlineNs();
        do {
            for (ServerLink link : session.route().links()) {
                final Answer answer = send(link, deadlineNs, asked, cache);
                if (answer != null) {
                    return answer;
                }
            }
            LockSupport.parkNanos(this, PAUSE_NS);
        } while (session.clock().nanoTime() - deadlineNs < 0);
        throw new RowanException(
                Status.UNREACHABLE, "no server responded to a catalogue request in time; it may have been applied");
    }

    private @Nullable Answer send(ServerLink link, long deadlineNs, Asked asked, Cache cache) {
        session.requireOpen();
        final CatalogueRequest catalogueRequest = new CatalogueRequest(asked, cache, new ArrayList<>(1));
        // Less than all of the time: another server may respond.
        final long nowNs = session.clock().nanoTime();
        final long endNs = nowNs + Math.min(session.settings().attemptNs(), deadlineNs - nowNs);
        if (!session.send(link, endNs, catalogueRequest)
                || catalogueRequest.answers().isEmpty()) {
            return null;
        }
        final Answer answer = catalogueRequest.answers().get(0);
        return switch (answer.status()) {
            case OK -> answer;
            case BAD_REQUEST -> throw new IllegalArgumentException(answer.text());
            case FULL, CLOSED -> null; // try another server, or later
            default -> throw new RowanException(answer.status(), answer.text());
        };
    }

    private static Cache named(String name) {
        return new Cache(0, name, NOTHING, CacheLimit.NONE);
    }

    private static CacheRecord recordOf(Cache cache) {
        return new CacheRecord(cache.id(), cache.name(), cache.descriptor(), cache.limit());
    }

    @Override
    public @Nullable CacheRecord find(String name) {
        final List<Cache> found = sendToAny(Asked.FIND, named(name)).caches();
        return found.isEmpty() ? null : recordOf(found.get(0));
    }

    @Override
    public CacheRecord create(String name, byte[] descriptor) {
        final List<Cache> created = sendToAny(Asked.CREATE, new Cache(0, name, descriptor, CacheLimit.NONE))
                .caches();
        if (created.isEmpty()) {
            throw new RowanException(Status.BAD_REQUEST, "the server created no cache " + name);
        }
        return recordOf(created.get(0));
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        return sendToAny(Asked.LIMIT, new Cache(0, name, NOTHING, limit)).number() != 0;
    }

    @Override
    public long evictions(int cacheId) {
        return sum(Asked.EVICTIONS, cacheId);
    }

    @Override
    public long objects(int cacheId) {
        return sum(Asked.OBJECTS, cacheId);
    }

    @Override
    public long bytes(int cacheId) {
        return sum(Asked.BYTES, cacheId);
    }

    /** Over all servers. */
    private long sum(Asked asked, int cacheId) {
        final long deadlineNs = deadlineNs();
        long sum = 0;
        for (ServerLink link : session.route().links()) {
            final Answer answer = send(link, deadlineNs, asked, new Cache(cacheId, "", NOTHING, CacheLimit.NONE));
            if (answer == null) {
                throw new RowanException(
                        Status.UNREACHABLE,
                        "the server at " + link.address() + " did not return its count of " + asked);
            }
            sum += answer.number();
        }
        return sum;
    }

    @Override
    public boolean destroy(String name) {
        return sendToAny(Asked.DESTROY, named(name)).number() != 0;
    }

    @Override
    public List<CacheRecord> list() {
        return sendToAny(Asked.LIST, named("")).caches().stream()
                .map(NetCatalogue::recordOf)
                .toList();
    }
}
