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
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.driver.parts.PartRequests;
import org.rowankv.driver.parts.PartedValues;
import org.rowankv.driver.parts.WholeChanges;
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
import org.rowankv.topology.PartKeys;
import org.rowankv.topology.ShardMap;

/**
 * Native client of a store: keys and values are bytes, and every object has a version.
 *
 * <p>Guarantees: each single-key operation is linearizable and reaches all replicas before it returns. A mutation takes
 * effect at most once, despite retries. A bulk operation is a set of single-key operations with one outcome per key,
 * not atomic together. A scan is no snapshot: it returns each object that exists throughout the scan once, and may miss
 * objects written meanwhile.
 *
 * <p>Thread-safe. {@link #execute} allocates nothing; the other methods allocate their results. The caller closes the
 * {@link Session} it passes in. Closing the client closes the client sessions at the shards, and what {@link #connect}
 * connected.
 */
public final class RowanClient implements AutoCloseable {
    /** Longest duration of an operation from its submission; the client repeats lost attempts until then. */
    public static final long DEFAULT_DEADLINE_NS = 10_000_000_000L;

    private static final int CLIENT_SESSIONS = 128;
    private static final int PARTS_AT_ONCE = 8;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final boolean ownsSession;
    /** Null if the session loses no reply: then no request is sent twice and none needs an id. */
    private final @Nullable ExactlyOnceExecutor exactlyOnceExecutor;

    private final Supplier<AsyncRequests> asyncFactory;
    /** Created on first use; guarded by {@link #asyncFactory}. */
    private @Nullable AsyncRequests asyncRequests;

    private final KeyHash keyHash;
    private final int shardCount;
    private final PartedValues partedValues;

    /** @param clock the session's clock */
    public RowanClient(Session session, Clock clock, RandomSource random) {
        this(session, clock, random, DEFAULT_DEADLINE_NS);
    }

    public RowanClient(Session session, Clock clock, RandomSource random, long deadlineNs) {
        this(session, clock, random, deadlineNs, CounterStarts.USUAL);
    }

    /** @param counters first sequences of request ids; for tests */
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
                ? new ExactlyOnceExecutor(session, clock, random, deadlineNs, CLIENT_SESSIONS, counters)
                : null;
        this.asyncFactory = () -> new AsyncRequests(
                session,
                clock,
                random,
                deadlineNs,
                new StepTimer(clock),
                request -> partedValues().complete(request));
        final Configuration configuration = session.configuration();
        this.keyHash = new KeyHash(configuration.hashSeed());
        this.shardCount = configuration.shardCount();
        this.partedValues = new PartedValues(
                new OwnRequests(),
                new PartKeys(keyHash, shardCount),
                clock,
                deadlineNs,
                random.fork("parts").nextLong());
    }

    /** The requests for parts, which are never in parts themselves. */
    private final class OwnRequests implements PartRequests {
        @Override
        public void execute(Request request) {
            send(request);
        }

        @Override
        public void executeAll(List<Request> requests) {
            sendAll(requests);
        }

        @Override
        public int window() {
            return isRemote() ? PARTS_AT_ONCE : 1;
        }
    }

    /** Values that do not fit into an entry, which are put and read in parts. */
    public PartedValues partedValues() {
        return partedValues;
    }

    /**
     * Connects to a cluster whose servers run in other processes.
     *
     * @param addresses of servers in the cluster, each {@code host:port}, with an IPv6 host in brackets; one reachable
     *     server suffices, it returns the others
     * @throws IllegalArgumentException if an address is malformed
     * @throws RowanException UNREACHABLE if no server is reachable; the message gives the reason for each
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
     * @param deadlineNs longest duration of an operation from its submission. The client repeats lost attempts until
     *     then and cuts off the last one; the outcome is then unknown, or UNREACHABLE if nothing was sent
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

    /** Connections re-established after a break; 0 in process. */
    public long reconnects() {
        return session.reconnects();
    }

    public Catalogue catalogue() {
        return session.catalogue();
    }

    public Configuration configuration() {
        return session.configuration();
    }

    /**
     * Whether the servers are reached over a network; if so, {@link #executeAll} is faster than sequential requests.
     */
    public boolean isRemote() {
        return session.isRemote();
    }

    /**
     * Executes a request on the calling thread; the response is in the request. Never throws for an expected outcome.
     * Allocates nothing once the request's buffers have grown, unless the value is in parts.
     */
    public void execute(Request request) {
        send(request);
        if (request.status().concernsParts()) {
            partedValues.complete(request);
        }
    }

    private void send(Request request) {
        locate(request);
        if (exactlyOnceExecutor == null) {
            session.call(request);
        } else {
            exactlyOnceExecutor.execute(request);
        }
    }

    /**
     * As {@link #execute} over a session that may lose replies, for a caller that sends the attempts itself and does
     * not block. A value that is or must be in parts is left to the caller: IN_PARTS or TOO_LARGE.
     */
    public RequestAttempts attempts(Request request) {
        locate(request);
        return requireNonNull(exactlyOnceExecutor, "the session loses no reply").attempts(request);
    }

    /**
     * Keeps the decoded value of a read with what proves it current, so that the value serves later reads of the key
     * without the store's bytes.
     *
     * @param read with {@link Request#requestLocation}, that {@link #execute} has answered with an object, and that was
     *     not used since
     * @param bytes of heap, for {@link ValidatedValue#bytes}
     * @return null if the store has no proof of that: its servers are in other processes, or a lifetime depends on
     *     the access
     */
    public <V> @Nullable ValidatedValue<V> validated(Request read, V value, int bytes) {
        return session.validated(read, value, bytes);
    }

    private void locate(Request request) {
        if (request.operation() == Operation.CLEAR) {
            return;
        }
        final long hash = keyHash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(hash, ShardMap.shardOf(hash, shardCount));
    }

    /**
     * As {@link #execute}, without blocking. The caller must not touch the request or its arrays until the stage
     * completes; it never completes exceptionally. In process the operation is complete on return. The thread that
     * completes the stage serves other callers, so dependents must not block; use an executor for other work. The
     * deadline counts from this call. An unresponsive server delays only its own requests.
     *
     * @throws java.util.concurrent.RejectedExecutionException if 65,536 requests for the same server already wait
     *     behind the 128 in flight; nothing was sent
     */
    public CompletionStage<Request> executeAsync(Request request) {
        if (exactlyOnceExecutor == null) {
            execute(request);
            return CompletableFuture.completedFuture(request);
        }
        locate(request);
        return asyncRequests().execute(request);
    }

    private AsyncRequests asyncRequests() {
        synchronized (asyncFactory) {
            AsyncRequests present = asyncRequests;
            if (present == null) {
                present = asyncFactory.get();
                asyncRequests = present;
            }
            return present;
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
     * As {@link #execute} for each request, concurrently: each is an independent, unordered operation with its own
     * response. Over a network each server receives its requests in one batch.
     *
     * @param requests distinct requests
     */
    public void executeAll(List<Request> requests) {
        sendAll(requests);
        for (Request request : requests) {
            if (request.status().concernsParts()) {
                partedValues.complete(request);
            }
        }
    }

    private void sendAll(List<Request> requests) {
        requests.forEach(this::locate);
        if (exactlyOnceExecutor == null) {
            session.callAll(requests);
        } else {
            exactlyOnceExecutor.executeAll(requests);
        }
    }

    /** Reads many keys; the result at index i belongs to key i. */
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
     * Writes many objects, each in an independent operation.
     *
     * @return by index, the result of the write or the exception it failed with
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

    /** Removes many objects, each in an independent operation; results as {@link #putAll}. */
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

    /** Removes every object of a cache; writes one log entry per shard, independent of the number of objects. */
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

    /** Whether {@link #subscribe} is supported: over a network it is. */
    public boolean streamsChanges() {
        return session.streamsChanges();
    }

    /**
     * Subscribes to the committed changes of a cache, whichever client makes them. Without a position the stream
     * contains all operations that begin after this returns, and some of those in flight. With a position it contains
     * all later changes, or reports their loss: servers retain only the newest changes, and only of caches with a
     * subscription in the last minute. After new roles are assigned, they retain those of shards whose primary is the
     * same process as before. The stream omits objects removed by {@link #clear} and changes of the remaining lifetime.
     * Costs a thread and a connection per server.
     *
     * @param oldValues whether events carry the replaced or removed value
     * @param from position of another subscription, or null
     * @throws UnsupportedOperationException unless the store {@link #streamsChanges streams changes}
     */
    public ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        return session.subscribe(cacheId, oldValues, from, WholeChanges.of(cacheId, listener, partedValues));
    }

    /** Throws unless the status is a result of the operation itself. */
    public static void checkOutcome(Request request) {
        OutcomeCheck.check(request);
    }

    @Override
    public void close() {
        try {
            final AsyncRequests present;
            synchronized (asyncFactory) {
                present = asyncRequests;
            }
            if (present != null) {
                present.close(); // not under the monitor: it waits
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
