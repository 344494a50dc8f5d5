package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;

/** Entries collected from one replica and scattered to another. */
final class LogReconciliationTest {
    private final LoggedServer first = new LoggedServer(0);
    private final LoggedServer second = new LoggedServer(1);
    private final long over = Version.next(Version.of(1, 0));
    private final long committed = Version.next(over);

    /** An entry that the other has dropped since must stay dropped, whichever of the two has the newer CommitVer. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldCollectNothingThatAnyReplicaKnowsToBeCommitted(int knows) {
        final LoggedServer informed = knows == 0 ? first : second;
        final LoggedServer other = knows == 0 ? second : first;
        other.put(over, "over", 100);
        first.put(committed, "k", 100);
        second.put(committed, "k", 100);
        informed.commitVector(committed);

        final List<RecoveredServer> servers =
                Stream.of(first, second).map(LoggedServer::start).toList();
        assertThat(LogReconciliation.reconcile(LoggedServer.configuration(), servers))
                .isZero();
        assertThat(LoggedServer.versionOf(servers.get(knows), "over")).isZero();
    }
}
