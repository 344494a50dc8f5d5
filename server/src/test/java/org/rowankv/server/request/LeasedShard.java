package org.rowankv.server.request;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** The primary of one shard with a lease that the test ends, and with roles that the test takes away. */
final class LeasedShard implements AnswerPermit {
    static final int CACHE = 1;
    static final long SESSION = 7;
    static final int AT_ONCE = 4;

    private final KeyHash keyHash = new KeyHash(7);
    final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 19);
    final ShardReplica replica = new ShardReplica(0, 1, keyHash, segments, 1);
    final ShardPrimary primary = new ShardPrimary(replica, new VersionCounter(1));
    final CurrentRoles roles = RolesOfOne.current(List.of(primary), 1, 2);
    final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    final LimitedCaches noLimits = new LimitedCaches(() -> new CacheCounts[0], 1, () -> 0, new Space(0));
    final ObjectReader reader =
            new ObjectReader(segments, clock, new ErrorLog(clock), new ReadCheck(segments), false, noLimits);
    final InFlightWindow inFlightWindow = new InFlightWindow(AT_ONCE);
    final NoPressure pressure = new NoPressure();
    final Backup backup;
    final HeldReplicator replicator;
    final Worker worker;
    /** Called at the points of the replicator. */
    Consumer<String> onPoint = point -> {};
    /** Called whenever the permit is asked, before its answer. */
    Runnable onAsked = () -> {};

    boolean isLeased = true;
    int asked;

    /** @param pieces that each entry is sent in; 0: no acknowledgement is awaited */
    LeasedShard(int pieces) {
        this(pieces, 1);
    }

    LeasedShard(int pieces, int minReplicas) {
        backup = new Backup(segments, pieces);
        replicator = new HeldReplicator(backup, point -> onPoint.accept(point));
        worker = new Worker(
                0,
                AT_ONCE,
                0,
                segments,
                roles,
                this,
                replicator,
                inFlightWindow,
                pressure,
                clock,
                noLimits,
                minReplicas);
    }

    @Override
    public boolean mayAnswer() {
        asked++;
        final boolean now = isLeased;
        onAsked.run();
        return now;
    }

    /** Another server is the primary, and this one its backup. */
    void leave() {
        RolesOfOne.replace(roles, RolesOfOne.without(roles.get().configuration(), 0));
    }

    /** Executes the request in the first slot; null if it waits. */
    Status answered(Request request) {
        worker.begin(primary, request);
        return advanced(request);
    }

    Status advanced(Request request) {
        return worker.advance() ? request.status() : null;
    }

    /** The last version that is assigned. */
    long last() {
        return primary.versions().last();
    }

    boolean isNothingInFlight() {
        return inFlightWindow.finished(0, last()) == last();
    }

    /** Of the stripes of all keys. */
    boolean isNothingLocked() {
        for (int stripe = 0; stripe < KeyLocks.STRIPES; stripe++) {
            if (replica.keyLocks().owner(stripe) != 0) {
                return false;
            }
        }
        return true;
    }

    /** No segment is free any more: what adds something finds no room. */
    void fill() {
        worker.retireLog();
        while (segments.freeCount() > 0) {
            segments.allocate(SegmentOwner.CLEAN, 0);
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private Request placed(Request request) {
        request.placed(keyHash.hash(CACHE, request.key(), 0, request.keyLength()), 0);
        return request;
    }

    Request get(String key) {
        return placed(new Request().get(CACHE, bytes(key), 0, key.length()));
    }

    Request put(String key, String value) {
        return placed(new Request().put(CACHE, bytes(key), 0, key.length(), bytes(value), 0, value.length()));
    }

    Request delete(String key) {
        return placed(new Request().delete(CACHE, bytes(key), 0, key.length()));
    }

    Request touch(String key, long version) {
        return placed(new Request().touch(CACHE, bytes(key), 0, key.length(), version, 1_000));
    }

    Request openSession(long session) {
        return new Request().openSession(0, session, last());
    }
}
