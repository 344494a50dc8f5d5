package org.rowankv.server.reconfiguration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.Segments;

/** What is collected from one replica and scattered to another. */
final class ColdStartTest {
    private final LoggedServer first = new LoggedServer(0);
    private final LoggedServer second = new LoggedServer(1);
    private final long over = Version.next(Version.of(1, 0));
    private final long committed = Version.next(over);

    private List<RecoveredServer> started() {
        return Stream.of(first, second).map(LoggedServer::start).toList();
    }

    /** What the other has dropped since is to stay dropped, whichever of the two has heard that it was committed. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldCollectNothingThatAnyReplicaKnowsToBeCommitted(int knows) {
        final LoggedServer informed = knows == 0 ? first : second;
        final LoggedServer other = knows == 0 ? second : first;
        other.put(over, "over", 100);
        first.put(committed, "k", 100);
        second.put(committed, "k", 100);
        informed.commitVector(committed);

        final List<RecoveredServer> servers = started();
        assertThat(ColdStart.collectAndScatter(LoggedServer.configuration(), servers))
                .isZero();
        assertThat(LoggedServer.versionOf(servers.get(knows), "over")).isZero();
    }

    /** It may have been ended before its copy's segment was opened: nothing that a tombstone found here ends is younger. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldCountWhatIsTakenOverAsOldAsCanBe(int lacks) {
        final LoggedServer lacking = lacks == 0 ? first : second;
        first.put(over, "k", 100);
        second.put(over, "k", 100);
        lacking.closeSegment();
        (lacks == 0 ? second : first).put(committed, "lacking", 100);

        final List<RecoveredServer> servers = started();
        assertThat(ColdStart.collectAndScatter(LoggedServer.configuration(), servers))
                .isEqualTo(1);

        final Segments segments = lacking.segments();
        final int segment = segments.segmentOf(
                LoggedServer.addressOf(servers.get(lacks).replicas().get(0), "lacking"));
        assertThat(segments.sequence(segment)).isGreaterThan(1);
        assertThat(segments.horizon(segment)).isEqualTo(1);
    }
}
