package org.rowankv.driver.net;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.session.RetrySchedule;
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

    /** The attempts of one call. */
    private static final class CatalogueCall {
        private final long deadlineNs;
        private String refusal = "no server responded to a catalogue request in time";

        CatalogueCall(long deadlineNs) {
            this.deadlineNs = deadlineNs;
        }
    }

    /** Repeats the requests until they have an answer, or until the deadline. */
    private <T> T repeat(Function<CatalogueCall, @Nullable T> requests) {
        final CatalogueCall call = new CatalogueCall(
                session.clock().nanoTime() + ATTEMPTS * session.settings().attemptNs());
        final RetrySchedule schedule = new RetrySchedule(session, session.clock());
        schedule.begin(call.deadlineNs);
        while (true) {
            final T answered = requests.apply(call);
            if (answered != null) {
                return answered;
            }
            final long pauseNs = schedule.afterAnswer(Status.UNREACHABLE);
            if (pauseNs == RetrySchedule.NEVER) {
                throw new RowanException(Status.UNREACHABLE, call.refusal + "; it may have been applied");
            }
            RetrySchedule.pause(pauseNs);
        }
    }

    private Answer sendToAny(Asked asked, Cache cache) {
        return repeat(call -> {
            final Route now = session.route();
            Answer answer = null;
            for (ServerLink link : now.members()) {
                answer = answer == null ? send(link, now, call, asked, cache) : answer;
            }
            return answer;
        });
    }

    /** Null: another server may respond, or this one later. Ends when the server is no member any more. */
    private @Nullable Answer send(ServerLink link, Route by, CatalogueCall call, Asked asked, Cache cache) {
        session.requireOpen();
        final CatalogueRequest catalogueRequest = new CatalogueRequest(asked, cache, new ArrayList<>(1));
        // Less than all of the time: another server may respond.
        final long nowNs = session.clock().nanoTime();
        final long endNs = nowNs + Math.min(session.settings().attemptNs(), call.deadlineNs - nowNs);
        if (!session.send(link, by, endNs, catalogueRequest)
                || catalogueRequest.answers().isEmpty()) {
            return null;
        }
        final Answer answer = catalogueRequest.answers().get(0);
        final Status status = answer.status();
        if (status == Status.FULL || status == Status.CLOSED || status.isForAnother()) {
            call.refusal = answer.text().isEmpty() ? call.refusal : answer.text();
            return null;
        }
        return switch (status) {
            case OK -> answer;
            case BAD_REQUEST -> throw new IllegalArgumentException(answer.text());
            default -> throw new RowanException(status, answer.text());
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

    /** Over the members by one configuration. */
    private long sum(Asked asked, int cacheId) {
        return repeat(call -> {
            final Route now = session.route();
            long sum = 0;
            for (ServerLink link : now.members()) {
                final Answer answer = send(link, now, call, asked, new Cache(cacheId, "", NOTHING, CacheLimit.NONE));
                if (answer == null) {
                    return null;
                }
                sum += answer.number();
            }
            return sum;
        });
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
