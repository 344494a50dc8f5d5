package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;

/**
 * A start of a store nearly out of segments makes room for its writes, although the logs hold no record of CommitVer,
 * so that another replica may lack any entry.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class StartRoomTest {
    /** The cleaner of a start needs one; a start that needs a segment itself must make room. */
    private static final int LEFT_FREE = 1;

    private static final int MOST_STARTS = 60;

    private final LoggedServer first = new LoggedServer(0);
    private final LoggedServer second = new LoggedServer(1);
    private final Map<String, Long> expected = new HashMap<>();
    private long version = Version.of(1, 0);

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private long next() {
        version = Version.next(version);
        return version;
    }

    private void putOnBoth(String key, int valueLength) {
        final long given = next();
        first.put(given, key, valueLength);
        second.put(given, key, valueLength);
        expected.put(key, given);
    }

    /** In each segment some objects are live, and others were replaced. */
    private void fill() {
        for (int i = 0; first.freeSegments() > LEFT_FREE; i++) {
            putOnBoth("kept" + i, 1_000);
            putOnBoth("replaced", 1_500);
        }
    }

    private static List<RecoveredServer> collected(LoggedServer... servers) {
        final List<RecoveredServer> started =
                List.of(servers).stream().map(LoggedServer::start).toList();
        LogReconciliation.reconcile(LoggedServer.configuration(), started);
        return started;
    }

    private void requireAll(List<RecoveredServer> servers) {
        for (RecoveredServer server : servers) {
            expected.forEach((key, given) -> assertThat(LoggedServer.versionOf(server, key))
                    .as("%s on server %d", key, server.serverId())
                    .isEqualTo(given));
            final Segments segments = server.segments();
            for (int s = 0; s < segments.count(); s++) {
                if (segments.isClosed(s)) {
                    assertThat(segments.deadBytes(s))
                            .as("dead in segment %d of server %d", s, server.serverId())
                            .isBetween(0, segments.entryBytes(s));
                }
            }
        }
    }

    @Test
    void shouldTakeOverWhatItLacksAlthoughCandidatesLieInEverySegment() {
        fill();
        final long lacking = next();
        second.put(lacking, "lacking", 100);
        expected.put("lacking", lacking);

        requireAll(collected(first, second));
    }

    @Test
    void shouldPutLargeEntriesTogetherAlthoughCandidatesLieInEverySegment() {
        for (int i = 0; first.freeSegments() > LEFT_FREE + 1; i++) {
            final long given = next();
            first.putInBlocks(given, "large" + i, 12_000);
            expected.put("large" + i, given);
            final long small = next();
            first.put(small, "small" + i % 10, 100);
            expected.put("small" + i % 10, small);
        }

        requireAll(List.of(first.start()));
    }

    /** The object was replaced here; only its response counts, which the other replica lacks. */
    @Test
    void shouldGiveADeadEntryToAReplicaThatLacksItAfterCleaning() {
        final long session = 77;
        final long opened = next();
        first.write(EntryType.SESSION_OPEN, opened, "", session, 0, 0);
        second.write(EntryType.SESSION_OPEN, opened, "", session, 0, 0);
        // Needed first, so that the first server must clean before it sends anything.
        final long lacking = next();
        final long dead = next();
        first.write(EntryType.PUT, dead, "dead", session, 1, 100);
        putOnBoth("dead", 100);
        // Without a session: nothing but the candidate refers to it.
        first.put(next(), "over", 100);
        putOnBoth("over", 100);
        for (int i = 0; i < 40; i++) {
            putOnBoth("replaced", 1_500); // the segment of the dead entry is the best victim
        }
        first.closeSegment();
        second.closeSegment();
        fill();
        second.put(lacking, "lacking", 100);

        final List<RecoveredServer> started = collected(first, second);

        requireAll(started);
        for (RecoveredServer server : started) {
            assertThat(server.replicas().get(0).sessions(session).lacksCompletion(session, 1))
                    .as("server %d", server.serverId())
                    .isFalse();
        }
    }

    /** Each start is interrupted a little later than the previous one; none leaves the next without room. */
    @Test
    void shouldOpenHoweverOftenAStartIsCutOff() {
        fill();
        for (int i = 0; i < 8; i++) {
            final long lacking = next();
            second.put(lacking, "lacking" + i, 3_000);
            expected.put("lacking" + i, lacking);
        }
        boolean through = false;
        for (int start = 1; !through && start <= MOST_STARTS; start++) {
            final int[] left = {start};
            Chaos.install(point -> {
                if ((point.startsWith("clean.") || point.equals("start.taken-over")) && --left[0] == 0) {
                    throw new CutOffError();
                }
            });
            try {
                collected(first, second);
                through = true;
            } catch (CutOffError e) {
                assertThat(first.freeSegments()).isNotNegative();
            }
        }
        Chaos.reset();

        requireAll(collected(first, second));
    }

    private static final class CutOffError extends Error {
        private static final long serialVersionUID = 1;
    }
}
