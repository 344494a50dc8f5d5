package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** Several mutations in flight in one worker context, with their entries in one log and one replicator. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class MutationsAtOnceTest {
    private static final int CACHE = 1;
    private static final int AT_ONCE = 3;
    private static final int SEGMENT = 64 << 10;

    private final KeyHash keyHash = new KeyHash(7);
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 16 * SEGMENT, SEGMENT, 0, 5, 1, Durability.NONE),
                    new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            12 * SEGMENT);
    private final ShardReplica replica = new ShardReplica(0, 1, keyHash, segments, 1);
    private final ShardPrimary primary = new ShardPrimary(replica, new VersionCounter(1));
    private final CurrentRoles roles = RolesOfOne.current(List.of(primary));
    private final InFlightWindow inFlightWindow = new InFlightWindow(AT_ONCE);
    private final Backup backup = new Backup(segments, 1);
    private final NoPressure pressure = new NoPressure();
    private final CacheCounts[] counts = {replica.counts()};
    private final LimitedCaches limits = new LimitedCaches(() -> counts, 1, () -> 0, new Space(0));
    private String strikesAt = "";
    private HeldReplicator replicator;
    private Worker worker;

    @BeforeEach
    void open() {
        replicator = new HeldReplicator(backup, this::reached);
        worker = new Worker(
                0,
                AT_ONCE,
                0,
                segments,
                roles,
                AnswerPermit.ALWAYS,
                replicator,
                inFlightWindow,
                pressure,
                new ManualClock(),
                limits,
                1);
    }

    private void reached(String point) {
        if (point.equals(strikesAt)) {
            strikesAt = "";
            throw new StackOverflowError(point);
        }
    }

    private Request put(String key, int valueLength) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        final Request request = new Request().put(CACHE, name, 0, name.length, new byte[valueLength], 0, valueLength);
        request.placed(keyHash.hash(CACHE, name, 0, name.length), 0);
        return request;
    }

    private Request begun(int number, String key, int valueLength) {
        final Request request = put(key, valueLength);
        worker.begin(number, primary, request);
        return request;
    }

    private Request delete(String key) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        final Request request = new Request().delete(CACHE, name, 0, name.length);
        request.placed(keyHash.hash(CACHE, name, 0, name.length), 0);
        return request;
    }

    @AfterEach
    void reset() {
        if (Chaos.ENABLED) {
            Chaos.reset();
        }
    }

    @Test
    void shouldAnswerEachWhenItsOwnEntryIsAcknowledged() {
        final Request first = begun(0, "a", 10);
        final Request second = begun(1, "b", 10);
        assertThat(worker.advance(0)).isFalse();
        assertThat(worker.advance(1)).isFalse();
        assertThat(backup.entries()).hasSize(2);

        replicator.acknowledge();
        worker.poll();

        assertThat(worker.advance(1)).isFalse();
        assertThat(worker.advance(0)).isTrue();
        assertThat(first.status()).isEqualTo(Status.OK);
        assertThat(worker.isIdle(0)).isTrue();
        assertThat(worker.isIdle(1)).isFalse();

        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(1)).isTrue();
        assertThat(second.status()).isEqualTo(Status.OK);
    }

    /** The limit was compared with counts that lacked the object. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEvictWhatWasUnderWayWhenItsCacheGotALimit(boolean hadALimit) {
        if (hadALimit) {
            limits.limit(CACHE, "limited", new CacheLimit(10, CacheLimit.NO_LIMIT));
        }
        begun(0, "a", 10);
        begun(1, "b", 10);
        worker.advance(0);
        worker.advance(1);

        assertThat(limits.limit(CACHE, "limited", new CacheLimit(1, CacheLimit.NO_LIMIT)))
                .isFalse();
        replicator.acknowledge();
        replicator.acknowledge();
        worker.poll();

        assertThat(worker.advance(0)).isTrue();
        assertThat(limits.isAnyCheckRequested()).isFalse();
        assertThat(worker.advance(1)).isTrue();
        assertThat(limits.isAnyCheckRequested()).isTrue();
        assertThat(limits.find(CACHE).isCheckRequested()).isTrue();
    }

    @Test
    void shouldKeepCommitVersionBehindTheOldestUnderWay() {
        begun(0, "a", 10);
        begun(1, "b", 10);
        worker.advance(0);
        final long before = inFlightWindow.finished(0, primary.versions().last());
        worker.advance(1);

        assertThat(inFlightWindow.finished(0, primary.versions().last())).isEqualTo(before);
        replicator.acknowledge();
        replicator.acknowledge();
        worker.poll();
        worker.advance(1);
        assertThat(inFlightWindow.finished(0, primary.versions().last())).isEqualTo(before);
        worker.advance(0);
        assertThat(inFlightWindow.finished(0, primary.versions().last()))
                .isEqualTo(primary.versions().last());
    }

    /** The mutations of an embedded store have no sessions: all its workers would contend for one table. */
    @Test
    void shouldAskNoSessionTableForWhatHasNoSession() {
        begun(0, "a", 10);
        worker.advance(0);
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();

        final CompletableFuture<Boolean> overwritten;
        synchronized (replica.sessions(0)) {
            overwritten = CompletableFuture.supplyAsync(() -> {
                begun(0, "a", 10);
                return worker.advance(0);
            });
            assertThat(overwritten).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(false);
        }
        assertThat(backup.entries()).hasSize(2);
    }

    /** Otherwise the cleaner could free it, with an entry that the index does not point to yet. */
    @Test
    void shouldNotCloseALogOfWhichAnEntryIsUnderWay() {
        begun(0, "a", SEGMENT / 2);
        worker.advance(0);
        final int first = worker.tLog().openSegment();

        begun(1, "b", SEGMENT / 2 + SEGMENT / 4);
        assertThat(worker.advance(1)).isFalse();
        assertThat(worker.tLog().openSegment()).isNotEqualTo(first).isNotNegative();
        assertThat(segments.isClosed(first)).isFalse();

        replicator.acknowledge();
        worker.poll();
        assertThat(segments.isClosed(first)).isFalse();
        assertThat(worker.advance(0)).isTrue();
        worker.poll();
        assertThat(segments.isClosed(first)).isTrue();
    }

    @Test
    void shouldWaitWithAThirdLogWithoutCallingTheStoreFull() {
        begun(0, "a", SEGMENT / 2);
        worker.advance(0);
        begun(1, "b", SEGMENT / 2 + SEGMENT / 4);
        worker.advance(1);
        final int second = worker.tLog().openSegment();
        final Request third = begun(2, "c", SEGMENT / 2);

        for (int cycle = 0; cycle < 10; cycle++) {
            pressure.settle(3);
            assertThat(worker.advance(2)).isFalse();
        }
        assertThat(worker.tLog().openSegment()).isEqualTo(second);

        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        assertThat(worker.advance(2)).isFalse();
        assertThat(worker.tLog().openSegment()).isNotEqualTo(second);
        replicator.acknowledge();
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(1)).isTrue();
        assertThat(worker.advance(2)).isTrue();
        assertThat(third.status()).isEqualTo(Status.OK);
    }

    /** The cycle in progress at the request may already have passed the agent that frees space. */
    @Test
    void shouldCallTheStoreFullOnlyBehindAWholeTurnOfTheAgents() {
        assertThat(segments.space().acquire(segments.space().available())).isPositive();
        final Request asks = begun(0, "a", 10);
        for (int i = 0; i < 3; i++) {
            assertThat(worker.advance(0)).isFalse();
        }

        pressure.settle(1);
        assertThat(worker.advance(0)).as("it began before").isFalse();
        segments.space().release(SEGMENT);
        assertThat(worker.advance(0)).isFalse();
        assertThat(backup.entries()).hasSize(1);
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        assertThat(asks.status()).isEqualTo(Status.OK);
    }

    @Test
    void shouldCallTheStoreFullWhenAWholeTurnHasGivenNothingBack() {
        assertThat(segments.space().acquire(segments.space().available())).isPositive();
        final Request asks = begun(0, "a", 10);
        assertThat(worker.advance(0)).isFalse();
        assertThat(worker.advance(0)).isFalse();
        pressure.settle(2);
        assertThat(worker.advance(0)).isTrue();
        assertThat(asks.status()).isEqualTo(Status.FULL);
    }

    @Test
    void shouldSendAgainWhatMayHaveBeenHeardWhenAnErrorStruck() {
        begun(0, "a", 10);
        begun(1, "b", 10);
        worker.advance(0);
        worker.advance(1);
        replicator.acknowledge();
        replicator.acknowledge();
        strikesAt = "replicator.heard";
        assertThatThrownBy(worker::poll).isInstanceOf(StackOverflowError.class);

        worker.poll();
        assertThat(worker.advance(0)).isFalse();
        assertThat(worker.advance(1)).isFalse();
        replicator.acknowledge();
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        assertThat(worker.advance(1)).isTrue();
    }

    @Test
    void shouldFinishOneThatWasLeftWhileOthersGoOn() {
        begun(0, "a", 10);
        worker.advance(0);
        begun(1, "b", 10);
        worker.advance(1);
        assertThat(worker.finishLeftover(0)).isFalse(); // its caller is dead

        replicator.acknowledge();
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(1)).isTrue();
        while (replicator.hasUnderWay()) {
            replicator.acknowledge();
        }
        assertThat(worker.finishLeftover(0)).isTrue();
        assertThat(worker.hasLeftover()).isFalse();
    }

    /** It acquires nothing: the entry that it ends repays its charge. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("chaos")
    void shouldTakeTheChargeBackOfWhatEndsAnObjectAndNeverCameToTheLog(boolean removes) {
        begun(0, "a", 200);
        worker.advance(0);
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        worker.releaseGrants();
        final long available = segments.space().available();

        Chaos.install(point -> {
            if (point.equals("request.after-version")) {
                throw new StackOverflowError(point);
            }
        });
        worker.begin(0, primary, removes ? delete("a") : put("a", 10));
        assertThatThrownBy(() -> worker.advance(0)).isInstanceOf(StackOverflowError.class);
        Chaos.reset();
        assertThat(worker.finishLeftover(0)).isTrue();
        worker.releaseGrants();
        assertThat(segments.space().available()).isEqualTo(available);
    }

    @Test
    void shouldRetireItsLogForWhoeverWantsThatInTheMiddleOfUse() {
        begun(0, "a", 10);
        worker.advance(0);
        final int first = worker.tLog().openSegment();
        worker.requestRetire(segments.sequence(first) + 1);
        worker.poll();
        assertThat(worker.tLog().openSegment()).isNegative();
        assertThat(segments.isClosed(first)).isFalse();

        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        worker.settleLog();
        assertThat(segments.isClosed(first)).isTrue();
    }

    /** Also by an owner with one request at a time: its log was retired while its entry was in flight. */
    @Test
    void shouldCloseARetiredLogAtTheLatestWhenTheContextComesToRest() {
        final Request request = put("a", 10);
        worker.begin(primary, request);
        assertThat(worker.advance()).isFalse();
        final int first = worker.tLog().openSegment();
        worker.requestRetire(segments.sequence(first) + 1);
        assertThat(worker.advance()).isFalse();
        replicator.acknowledge();
        assertThat(worker.advance()).isTrue();
        assertThat(segments.isClosed(first)).isFalse();
        worker.settleLog();
        assertThat(segments.isClosed(first)).isTrue();
    }

    @Test
    void shouldGiveBackWhatWasDrawnAheadForWhoeverWantsThatInTheMiddleOfUse() {
        begun(0, "a", 10);
        worker.advance(0);
        final long drawnAhead = segments.space().available();
        worker.requestRelease();
        worker.poll();
        assertThat(segments.space().available()).isGreaterThan(drawnAhead);
    }

    /** Nothing is written meanwhile, no version is taken, and nothing is acquired. */
    @Test
    void shouldWaitForAnotherEpochAndBeRefusedWhenThereIsNone() {
        final VersionCounter ending = new VersionCounter(1, 1, CounterStarts.nearEnds(0));
        final ShardPrimary shard = new ShardPrimary(replica, ending);
        RolesOfOne.putInForce(roles, shard);
        final long before = ending.last();
        final Request waits = put("a", 10);
        worker.begin(0, shard, waits);
        assertThat(worker.advance(0)).isFalse();
        assertThat(worker.advance(0)).isFalse();

        ending.failed();
        assertThat(worker.advance(0)).isTrue();
        assertThat(waits.status()).isEqualTo(Status.NO_VERSION);
        assertThat(ending.last()).isEqualTo(before);
        assertThat(backup.entries()).isEmpty();

        final Request next = put("a", 10);
        worker.begin(0, shard, next);
        assertThat(worker.advance(0)).as("of the next attempt nothing is known").isFalse();
        ending.renew(2);
        assertThat(worker.advance(0)).isFalse();
        replicator.acknowledge();
        worker.poll();
        assertThat(worker.advance(0)).isTrue();
        assertThat(next.status()).isEqualTo(Status.OK);
        assertThat(next.version()).isEqualTo(Version.of(2, 1));
    }
}
