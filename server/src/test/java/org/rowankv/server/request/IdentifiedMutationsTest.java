package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
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
import org.rowankv.server.session.SessionTable;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** Mutations of a session: what the session holds during them, and what it remembers afterwards. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class IdentifiedMutationsTest {
    private static final int CACHE = 1;
    private static final long SESSION = 7;
    private static final long LIFETIME_MS = 1_000;
    private static final byte[] KEY = bytes("k");

    private final KeyHash keyHash = new KeyHash(7);
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 19);
    private final ShardReplica replica = new ShardReplica(0, 1, keyHash, segments, 1);
    private final ShardPrimary primary = new ShardPrimary(replica, new VersionCounter(1));
    private final CurrentRoles roles = RolesOfOne.current(List.of(primary));
    private final ManualClock clock = new ManualClock();
    /** There is no backup to wait for. */
    private final Worker worker = new Worker(
            0,
            1,
            0,
            segments,
            roles,
            AnswerPermit.ALWAYS,
            new HeldReplicator(new Backup(segments, 0), point -> {}),
            new InFlightWindow(1),
            new NoPressure(),
            clock,
            new LimitedCaches(() -> new CacheCounts[0], 1, () -> 0, new Space(0)),
            1);

    private final SessionTable sessions = replica.sessions(SESSION);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @BeforeEach
    void open() {
        assertThat(answered(
                        new Request().openSession(0, SESSION, primary.versions().last())))
                .isEqualTo(Status.OK);
    }

    private Status answered(Request request) {
        return answered(primary, request);
    }

    private Status answered(ShardPrimary shard, Request request) {
        worker.begin(shard, request);
        assertThat(worker.advance()).isTrue();
        return request.status();
    }

    private Request placed(Request request) {
        request.placed(keyHash.hash(CACHE, KEY, 0, KEY.length), 0);
        return request;
    }

    private Request put(String value) {
        return placed(new Request().put(CACHE, KEY, 0, KEY.length, bytes(value), 0, value.length()));
    }

    private Request delete() {
        return placed(new Request().delete(CACHE, KEY, 0, KEY.length));
    }

    /** Otherwise its session never ends, however long it is unused. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLeaveItsSessionAsOftenAsItEntersWhenItMeetsAnExpiredObject(boolean puts) {
        assertThat(answered(put("old").ttl(LIFETIME_MS, LIFETIME_MS))).isEqualTo(Status.OK);
        clock.advanceMs(2 * LIFETIME_MS);

        final Request meets = puts ? put("new") : delete();
        meets.identified(SESSION, 1, 0);
        assertThat(answered(meets)).isEqualTo(puts ? Status.OK : Status.NOT_FOUND);

        assertThat(sessions.tick(0)).as("sessions without a request under way").containsExactly(SESSION);
    }

    /** A late copy arrives after another client has put the object. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldAnswerALateCopyAsBeforeThoughTheObjectIsThereByNow(boolean replaces) {
        final Request first = replaces ? put("replaced").when(Condition.IF_PRESENT) : delete();
        first.identified(SESSION, 1, 0);
        assertThat(answered(first)).isEqualTo(Status.NOT_FOUND);
        assertThat(answered(put("other"))).isEqualTo(Status.OK);

        final Request late = replaces ? put("replaced").when(Condition.IF_PRESENT) : delete();
        late.identified(SESSION, 1, 0);
        assertThat(answered(late)).isEqualTo(Status.NOT_FOUND);

        final Request get = placed(new Request().get(CACHE, KEY, 0, KEY.length));
        assertThat(answered(get)).isEqualTo(Status.OK);
        assertThat(get.resultBytes()).isEqualTo(bytes("other"));
    }

    /** No version can be taken, so no entry opens the session, and its slot is free for others. */
    @Test
    void shouldGiveThePlaceOfASessionBackThatIsNotOpened() {
        final long other = sessionOfTheSameTable();
        replica.sessions().beginPrimary(2);
        final VersionCounter ending = new VersionCounter(1, 1, CounterStarts.nearEnds(0));
        final ShardPrimary shard = new ShardPrimary(replica, ending);
        RolesOfOne.putInForce(roles, shard);
        for (int times = 0; times < 3; times++) {
            final Request opening = new Request().openSession(0, other, ending.last());
            worker.begin(shard, opening);
            assertThat(worker.advance()).as("it waits for another epoch").isFalse();
            ending.failed();
            assertThat(worker.advance()).isTrue();
            assertThat(opening.status()).isEqualTo(Status.NO_VERSION);
        }
        RolesOfOne.putInForce(roles, primary);
        assertThat(answered(
                        new Request().openSession(0, other, primary.versions().last())))
                .isEqualTo(Status.OK);
        assertThat(sessions.openSessions()).containsExactlyInAnyOrder(SESSION, other);
    }

    private long sessionOfTheSameTable() {
        long session = SESSION + 1;
        while (replica.sessions(session) != sessions) {
            session++;
        }
        return session;
    }
}
