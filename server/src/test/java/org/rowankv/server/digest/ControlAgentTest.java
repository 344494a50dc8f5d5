package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ControlAgentTest {
    private final LandingServer server = new LandingServer();

    /**
     * Entries copied to a replica that is catching up may have been ended by ones that landed in an earlier segment.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPostSegmentsAsOldAsCanBeWhileAReplicaJoins(boolean joining) {
        if (joining) {
            server.replica.beginJoining();
        }
        final int[] taken = new int[2];
        assertThat(server.control.take(taken, new int[2], 2)).isEqualTo(2);

        final long number = server.segments.sequence(taken[1]);
        assertThat(number).isEqualTo(2);
        assertThat(server.segments.horizon(taken[1])).isEqualTo(joining ? 1 : number);
    }
}
