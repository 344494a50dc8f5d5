package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.replication.ScriptedServers;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

/** What server 0 copies to joining backups, when these come while it serves. */
final class CopyAgentTest {
    private static final int SHARD = 0;
    private static final int OBJECTS = 12;

    private final LoggedServer logged = new LoggedServer(0);
    private final ScriptedServers servers = new ScriptedServers();
    private final ManualClock clock = new ManualClock();
    private final List<Integer> announced = new ArrayList<>();
    private final List<Integer> copied = new ArrayList<>();
    private final Configuration first = RolesOfOne.configuration(1, 1, 2);
    private CurrentRoles roles;
    private CopyAgent agent;

    private final class Listener implements CopyListener {
        @Override
        public void announced(int shard, int server, long bytes) {
            announced.add(server);
        }

        @Override
        public void copied(int shard, int server, long unused) {
            copied.add(server);
        }

        @Override
        public boolean joined(int server) {
            return true;
        }
    }

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            logged.put(Version.of(1, i + 1), "k" + i, 10);
        }
        final RecoveredServer started = logged.start();
        servers.acknowledgeAtOnce();
        roles = RolesOfOne.current(
                List.of(new ShardPrimary(started.replicas().get(SHARD), new VersionCounter(1))), 1, 2);
        agent = new CopyAgent(
                0,
                roles,
                started.segments(),
                new BackupConnections(servers, roles.get(), clock, new ErrorLog(clock), server -> {}),
                1024,
                new Listener(),
                clock,
                1 << 20);
    }

    private void turn(int times) {
        for (int i = 0; i < times; i++) {
            clock.advanceMs(1);
            agent.doWork();
        }
    }

    private List<Long> versionsAt(int server) {
        return servers.to(server).messages().stream()
                .map(message -> EntryDescriptor.version(message, 0))
                .toList();
    }

    @Test
    void shouldCopyToAReplicaThatJoinsLater() {
        turn(10);
        assertThat(agent.entries()).isZero();
        final Configuration next = RolesOfOne.changed(first, Set.of(3), 1, 3);
        RolesOfOne.replace(roles, next);
        turn(100);
        assertThat(announced).containsExactly(3);
        assertThat(copied).containsExactly(3);
        assertThat(versionsAt(3)).hasSize(OBJECTS).doesNotHaveDuplicates();
        assertThat(servers.isConnected(1)).as("it is complete").isFalse();

        RolesOfOne.replace(roles, RolesOfOne.changed(next, Set.of(3), 3, 1));
        turn(100);
        assertThat(copied).as("nothing is new").containsExactly(3);
    }

    /** R9: it has received only the rest of a copy that began for the former one. */
    @Test
    void shouldNotCallAnotherIncarnationComplete() {
        final Configuration joining = RolesOfOne.changed(first, Set.of(1), 1, 2);
        RolesOfOne.replace(roles, joining);
        clock.advanceNs(100_000); // for about a hundred bytes
        agent.doWork();
        clock.advanceNs(100_000);
        agent.doWork();
        assertThat(agent.entries()).isBetween(1L, OBJECTS - 1L);

        RolesOfOne.replace(roles, RolesOfOne.returned(joining, 1));
        while (announced.size() < 2) {
            turn(1);
        }
        assertThat(copied).as("of the former incarnation").isEmpty();
        turn(100);
        assertThat(copied).containsExactly(1);
        final List<Long> received = versionsAt(1);
        assertThat(received.subList(received.size() - OBJECTS, received.size())).doesNotHaveDuplicates();
    }
}
