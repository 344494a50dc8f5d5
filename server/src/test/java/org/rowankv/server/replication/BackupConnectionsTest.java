package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.RolesOfOne;

/** Connections of server 0 to server 1, which refuses them. */
final class BackupConnectionsTest {
    private static final long PAUSE_NS = 200_000_000;

    private final ScriptedServers servers = new ScriptedServers();
    private final ManualClock clock = new ManualClock();
    private final BackupConnections connections = new BackupConnections(
            servers,
            new Roles(0, RolesOfOne.configuration(1, 1), shard -> null),
            clock,
            new ErrorLog(clock),
            server -> {});

    private void requireAttempts(int attempts) {
        assertThat(connections.pair(1)).isNull();
        assertThat(servers.refusals()).isEqualTo(attempts);
    }

    @Test
    void shouldPauseAfterARefusal() {
        servers.refuse(PAUSE_NS);
        requireAttempts(1);
        requireAttempts(1);
        clock.advanceNs(PAUSE_NS - 1);
        requireAttempts(1);
        clock.advanceNs(1);
        requireAttempts(2);
    }
}
