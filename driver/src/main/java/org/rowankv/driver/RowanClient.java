package org.rowankv.driver;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.driver.session.AsyncRequests;
import org.rowankv.driver.session.ExactlyOnceExecutor;
import org.rowankv.driver.session.RequestAttempts;
import org.rowankv.driver.session.StepTimer;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * The native client: keys and values are bytes, every object has a version.
 *
 * <p>Guarantees: each single-key operation is linearizable, and on all replicas before it returns; a mutation takes
 * effect at most once, whatever was retried below. Bulk operations are sets of single-key operations with one outcome
 * per key; they are not atomic together. Scans are not snapshots: an object that exists throughout a scan is seen once,
 * one that is written meanwhile may or may not be seen.
 *
 * <p>Thread-safe. {@link #execute} allocates nothing; the other methods allocate their results. Whoever gave the
 * {@link Session} closes it; closing the client closes what it opened at the shards, and what {@link #connect} connected.
 */
public final class RowanClient implements AutoCloseable {
    /** How long an operation takes at most, from its submission; until then a lost attempt is repeated. */
    public static final long DEFAULT_DEADLINE_NS = 10_000_000_000L;

    private static final int MAX_KEY_SHOWN = 64;

    private static final int LANES = 128;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final boolean ownsSession;
    /** Null over a session that loses no reply: nothing is sent twice, so nothing needs a name. */
    private final @Nullable ExactlyOnceExecutor exactlyOnceExecutor;

    private final Supplier<AsyncRequests> asyncMaker;
    /** Made when it is wanted; guarded by {@link #asyncMaker}. */
    private @Nullable AsyncRequests asyncRequests;

    private final KeyHash keyHash;
    private final int shardCount;

    /** @param clock by which the session waits too */
    public RowanClient(Session session, Clock clock, RandomSource random) {
        this(session, clock, random, DEFAULT_DEADLINE_NS);
    }

    public RowanClient(Session session, Clock clock, RandomSource random, long deadlineNs) {
        this(session, clock, random, deadlineNs, CounterStarts.USUAL);
    }

    /** @param counters where the sequences of its first requests' ids begin; for tests */
    public RowanClient(Session session, Clock clock, RandomSource random, long deadlineNs, CounterStarts counters) {
        this(session, clock, random, deadlineNs, counters, false);
    }

    private RowanClient(
            Session session,
            Clock clock,
            RandomSource random,
            long deadlineNs,
            CounterStarts counters,
            boolean ownsSession) {
        this.session = session;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.ownsSession = ownsSession;
        this.exactlyOnceExecutor = session.needsRequestIds()
                ? new ExactlyOnceExecutor(session, clock, random, deadlineNs, LANES, counters)
                : null;
        this.asyncMaker = () -> new AsyncRequests(session, clock, random, deadlineNs, new StepTimer(clock));
        final Configuration configuration = session.configuration();
        this.keyHash = new KeyHash(configuration.hashSeed());
        this.shardCount = configuration.shardCount();
    }

    /**
     * A client of a cluster whose servers run elsewhere.
     *
     * @param addresses of any of its servers, each {@code host:port}, an IPv6 host in brackets; one that can be reached
     *     suffices, it tells of the others
     * @throws IllegalArgumentException if one is no address
     * @throws RowanException UNREACHABLE if none can be reached; says why of each
     */
    public static RowanClient connect(List<String> addresses) {
        return connect(addresses, NetSettings.DEFAULT);
    }

    /** As above, with other process values. */
    public static RowanClient connect(List<String> addresses, NetSettings settings) {
        return connect(addresses, settings, DEFAULT_DEADLINE_NS);
    }

    /**
     * As above.
     *
     * @param deadlineNs how long an operation takes at most, from its submission. A lost attempt is repeated until then, and the
     *     last one is cut; then the outcome is called unknown, or UNREACHABLE if nothing was sent. Where no server can be reached, or none
     *     takes the operation, about half of it
     */
    public static RowanClient connect(List<String> addresses, NetSettings settings, long deadlineNs) {
        final Clock clock = SystemClock.INSTANCE;
        return new RowanClient(
                NetSession.connect(addresses, settings, clock),
                clock,
                SecureSeed.source(),
                deadlineNs,
                CounterStarts.USUAL,
                true);
    }

    /** Connections that broke and were made again; 0 in process. */
    public long reconnects() {
        return session.reconnects();
    }

    public Catalogue catalogue() {
        return session.catalogue();
    }

    public Configuration configuration() {
        return session.configuration();
    }

    /** Whether its servers are reached over a network: then {@link #executeAll} is faster than one request after the other. */
    public boolean isRemote() {
        return session.isRemote();
    }

    /**
     * Carries a request to its outcome on the calling thread; the answer is in the request. Never throws for an
     * expected outcome. Allocates nothing once the request's buffers have grown.
     */
    public void execute(Request request) {
        place(request);
        if (exactlyOnceExecutor == null) {
            session.call(request);
        } else {
            exactlyOnceExecutor.execute(request);
        }
    }

    /** As {@link #execute} over a session that may lose replies, for a caller that hands it the attempts itself, and does not wait. */
    public RequestAttempts attempts(Request request) {
        place(request);
        return requireNonNull(exactlyOnceExecutor, "the session loses no reply").attempts(request);
    }

    private void place(Request request) {
        if (request.operation() == Operation.CLEAR) {
            return;
        }
        final long hash = keyHash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(hash, ShardMap.shardOf(hash, shardCount));
    }

    /**
     * As {@link #execute}, for callers that do not want to wait. The request and its arrays are not to be touched until the stage
     * is complete; it never completes exceptionally. In process the operation is done when this returns. The stage is completed
     * by a thread that others wait for, so dependents must not block; what is to run elsewhere needs an executor of the
     * caller's. The deadline counts from this call. A server that does not answer delays only what is for it.
     *
     * @throws java.util.concurrent.RejectedExecutionException if 65,536 requests for the same server wait for a place among the
     *     128 under way; nothing was sent
     */
    public CompletionStage<Request> executeAsync(Request request) {
        if (exactlyOnceExecutor == null) {
            execute(request);
            return CompletableFuture.completedFuture(request);
        }
        place(request);
        return asyncRequests().execute(request);
    }

    private AsyncRequests asyncRequests() {
        synchronized (asyncMaker) {
            AsyncRequests made = asyncRequests;
            if (made == null) {
                made = asyncMaker.get();
                asyncRequests = made;
            }
            return made;
        }
    }

    // --- one key ---

    public byte @Nullable [] get(int cacheId, byte[] key) {
        return getVersioned(cacheId, key).value();
    }

    public VersionedValue getVersioned(int cacheId, byte[] key) {
        final Request request = new Request().get(cacheId, key, 0, key.length);
        execute(request);
        checkOutcome(request);
        return new VersionedValue(request.status() == Status.OK ? request.resultBytes() : null, request.version());
    }

    public WriteResult put(int cacheId, byte[] key, byte[] value) {
        return write(putRequest(cacheId, key, value));
    }

    public WriteResult putIfAbsent(int cacheId, byte[] key, byte[] value) {
        return write(putRequest(cacheId, key, value).when(Condition.IF_ABSENT));
    }

    public WriteResult replaceIfVersion(int cacheId, byte[] key, byte[] value, long version) {
        return write(putRequest(cacheId, key, value).when(Condition.IF_VERSION, version));
    }

    public WriteResult getAndPut(int cacheId, byte[] key, byte[] value) {
        return write(putRequest(cacheId, key, value).requestValue(true));
    }

    public WriteResult remove(int cacheId, byte[] key) {
        return write(new Request().delete(cacheId, key, 0, key.length));
    }

    public WriteResult removeIfVersion(int cacheId, byte[] key, long version) {
        return write(new Request().delete(cacheId, key, 0, key.length).when(Condition.IF_VERSION, version));
    }

    public WriteResult getAndRemove(int cacheId, byte[] key) {
        return write(new Request().delete(cacheId, key, 0, key.length).requestValue(true));
    }

    private static Request putRequest(int cacheId, byte[] key, byte[] value) {
        return new Request().put(cacheId, key, 0, key.length, value, 0, value.length);
    }

    private WriteResult write(Request request) {
        execute(request);
        return resultOf(request);
    }

    private static WriteResult resultOf(Request request) {
        checkOutcome(request);
        return new WriteResult(
                request.status() == Status.OK,
                request.version(),
                request.previousVersion(),
                request.bits(),
                request.needsValue() ? request.resultBytes() : null);
    }

    // --- many keys ---

    /**
     * As {@link #execute} for each of them, at the same time: each is an operation of its own, with its own answer, and none is
     * ordered against another. Over a network a server gets all that concerns it at once.
     *
     * @param requests different ones
     */
    public void executeAll(List<Request> requests) {
        requests.forEach(this::place);
        if (exactlyOnceExecutor == null) {
            session.callAll(requests);
        } else {
            exactlyOnceExecutor.executeAll(requests);
        }
    }

    /** Reads many keys; the answer at index i belongs to key i. */
    public List<VersionedValue> getAll(int cacheId, List<byte[]> keys) {
        final List<Request> requests = new ArrayList<>(keys.size());
        keys.forEach(key -> requests.add(new Request().get(cacheId, key, 0, key.length)));
        executeAll(requests);
        final List<VersionedValue> values = new ArrayList<>(keys.size());
        for (Request request : requests) {
            checkOutcome(request);
            values.add(new VersionedValue(
                    request.status() == Status.OK ? request.resultBytes() : null, request.version()));
        }
        return values;
    }

    /**
     * Writes many objects, each an operation of its own.
     *
     * @return by index, the write's result, or the exception with which that one failed
     */
    public List<BulkResult> putAll(int cacheId, List<byte[]> keys, List<byte[]> values) {
        if (keys.size() != values.size()) {
            throw new IllegalArgumentException(keys.size() + " keys but " + values.size() + " values");
        }
        final List<Request> requests = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            requests.add(putRequest(cacheId, keys.get(i), values.get(i)));
        }
        return writeAll(requests);
    }

    /** Removes many objects, each an operation of its own; results as {@link #putAll}. */
    public List<BulkResult> removeAll(int cacheId, List<byte[]> keys) {
        final List<Request> requests = new ArrayList<>(keys.size());
        keys.forEach(key -> requests.add(new Request().delete(cacheId, key, 0, key.length)));
        return writeAll(requests);
    }

    private List<BulkResult> writeAll(List<Request> requests) {
        executeAll(requests);
        final List<BulkResult> results = new ArrayList<>(requests.size());
        requests.forEach(request -> results.add(BulkResult.of(request, RowanClient::resultOf)));
        return results;
    }

    /** Removes every object of a cache: one logged record per shard, whatever the number of objects. */
    public void clear(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < shardCount; shard++) {
            execute(request.clear(cacheId, shard));
            checkOutcome(request);
        }
    }

    /** A cursor over the live objects of a cache, shard by shard in hash order. */
    public ScanCursor scan(int cacheId, boolean withValues) {
        return new ScanCursor(session, this::execute, clock, deadlineNs, cacheId, shardCount, withValues);
    }

    // --- changes ---

    /** Whether {@link #subscribe} tells of what changes: over a network it does. */
    public boolean streamsChanges() {
        return session.streamsChanges();
    }

    /**
     * Begins to tell of the committed changes of a cache, whoever makes them. Without a position: of all operations that begin after this
     * returned, and of some of those under way then. With one: of all after it, or that some of that is lost; servers keep the newest
     * changes only, and only of caches that somebody has subscribed to within the last minute; across a new start of roles those of shards whose primary is the same
     * process as before. What {@link #clear} removes and a new remaining lifetime are not told. Costs a thread and a connection per server.
     *
     * @param oldValues whether what was replaced or ended is told too
     * @param from where another subscription had got to, or null
     * @throws UnsupportedOperationException if the store does not {@link #streamsChanges stream}
     */
    public ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        return session.subscribe(cacheId, oldValues, from, listener);
    }

    /** Throws for every outcome that is not one of the operation's own results. */
    public static void checkOutcome(Request request) {
        switch (request.status()) {
            case OK, NOT_FOUND, CONDITION_FAILED -> {}
            case FULL ->
                throw new StoreFullException("the store is full: the entry of " + entryBytes(request)
                        + " bytes was not written; remove objects, let them expire, or raise the capacity");
            case TOO_LARGE ->
                throw new RowanException(
                        Status.TOO_LARGE,
                        "key and value have " + entryBytes(request)
                                + " bytes together, more than one segment of the log can hold; nothing was written");
            case UNKNOWN_CACHE ->
                throw new RowanException(
                        Status.UNKNOWN_CACHE, "the cache with id " + request.cacheId() + " was destroyed");
            case CORRUPTED ->
                throw new RowanException(
                        Status.CORRUPTED,
                        "the stored entry of key " + keyText(request) + " in the cache with id " + request.cacheId()
                                + " does not agree with its checksum, and no other replica has it; it is not served."
                                + " Put it again, or remove it");
            case CLOSED -> throw new RowanException(Status.CLOSED, "the store is closed");
            case UNREACHABLE ->
                throw new RowanException(
                        Status.UNREACHABLE,
                        "the server that the operation " + request.operation()
                                + " belongs to could not be reached within the deadline; it was not applied");
            case NO_VERSION ->
                throw new RowanException(
                        Status.NO_VERSION,
                        "shard " + request.shard()
                                + " needs a new epoch before it takes writes, and the configuration store"
                                + " could not store one; nothing was written. See the servers' logs, and try again");
            case NO_REPLY ->
                throw new RowanException(
                        Status.NO_REPLY, "no reply to the operation " + request.operation() + " within the deadline");
            case OUTCOME_UNKNOWN ->
                throw new RowanException(
                        Status.OUTCOME_UNKNOWN,
                        "no reply within the deadline: the operation may have taken effect once");
            default ->
                throw new RowanException(
                        request.status(),
                        "the operation " + request.operation() + " was not applied: " + request.status());
        }
    }

    /** As far as it is ASCII, and not for ever. */
    private static String keyText(Request request) {
        final StringBuilder text = new StringBuilder("\"");
        final int shown = Math.min(request.keyLength(), MAX_KEY_SHOWN);
        for (int i = 0; i < shown; i++) {
            final int each = request.key()[request.keyOffset() + i] & 0xff;
            if (each >= ' ' && each < 0x7f) {
                text.append((char) each);
            } else {
                text.append(String.format("\\x%02x", each));
            }
        }
        return text.append(shown < request.keyLength() ? "\"..." : "\"").toString();
    }

    private static long entryBytes(Request request) {
        return (long) request.keyLength() + request.valueLength();
    }

    @Override
    public void close() {
        try {
            synchronized (asyncMaker) {
                if (asyncRequests != null) {
                    asyncRequests.close();
                }
            }
            if (exactlyOnceExecutor != null) {
                exactlyOnceExecutor.close();
            }
        } finally {
            if (ownsSession) {
                session.close();
            }
        }
    }
}
