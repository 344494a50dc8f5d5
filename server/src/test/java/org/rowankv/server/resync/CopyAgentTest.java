package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
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
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.ScriptedServers;
import org.rowankv.server.resync.CopyProgress.Phase;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

/** What server 0 copies to joining backups, when these come, leave and return while it serves. */
final class CopyAgentTest {
    private static final int SHARD = 0;
    private static final int OBJECTS = 2 * CopyWindow.ENTRIES;
    private static final int SLOT = 0;

    private final LoggedServer logged = new LoggedServer(0);
    private final ScriptedServers servers = new ScriptedServers();
    private final ManualClock clock = new ManualClock();
    private final InFlightWindow inFlight = new InFlightWindow(1);
    private final VersionCounter versions = new VersionCounter(1);
    private final List<String> announced = new ArrayList<>();
    private final List<String> copied = new ArrayList<>();
    private final Set<Integer> deaf = new HashSet<>();
    private final Set<Integer> silent = new HashSet<>();
    private final Configuration first = RolesOfOne.configuration(1, 1, 2);
    private CurrentRoles roles;
    private CopyAgent agent;

    private final class Listener implements CopyListener {
        @Override
        public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
            assertThat(bytes).isPositive();
            announced.add(server + "@" + epoch);
            return !deaf.contains(server);
        }

        @Override
        public boolean copied(int shard, int epoch, int server) {
            copied.add(server + "@" + epoch);
            return !deaf.contains(server);
        }

        @Override
        public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
            return Inquiry.over(new BitSet()); // it holds nothing
        }

        @Override
        public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
            throw new AssertionError("not of a primary");
        }
    }

    @BeforeEach
    void start() {
        for (int i = 0; i < OBJECTS; i++) {
            logged.put(Version.of(1, i + 1), "k" + i, 10);
        }
        final RecoveredServer started = logged.start();
        roles = RolesOfOne.current(List.of(new ShardPrimary(started.replicas().get(SHARD), versions)), 1, 2);
        agent = new CopyAgent(
                0,
                roles,
                started.segments(),
                () -> new BackupConnections(servers, roles.get(), clock, new ErrorLog(clock), server -> {}),
                inFlight,
                () -> {},
                1024,
                new Listener(),
                clock,
                16 << 20);
    }

    private void turn(int times) {
        for (int i = 0; i < times; i++) {
            for (int server = 1; server < 4; server++) {
                if (servers.isConnected(server) && !silent.contains(server)) {
                    servers.to(server).acknowledge(1000);
                }
            }
            clock.advanceMs(1);
            agent.doWork();
        }
    }

    private Configuration adopt(Configuration next) {
        RolesOfOne.replace(roles, next);
        if (next.shard(SHARD).epoch() > Version.epoch(versions.last())) {
            versions.renew(next.shard(SHARD).epoch());
        }
        return next;
    }

    private List<Long> versionsAt(int server) {
        return servers.to(server).messages().stream()
                .map(message -> EntryDescriptor.version(message, 0))
                .toList();
    }

    private List<Phase> phases() {
        return agent.progress().stream().map(CopyProgress::phase).toList();
    }

    @Test
    void shouldCopyToAReplicaThatJoinsLater() {
        turn(10);
        assertThat(agent.entries()).isZero();
        assertThat(agent.progress()).isEmpty();
        final Configuration next = adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(300);
        assertThat(announced).containsExactly("3@2");
        assertThat(copied).containsExactly("3@2");
        assertThat(versionsAt(3)).hasSize(OBJECTS).doesNotHaveDuplicates();
        assertThat(servers.isConnected(1)).as("it is complete").isFalse();
        assertThat(phases()).containsExactly(Phase.COPIED);

        adopt(RolesOfOne.changed(next, Set.of(3), 3, 1));
        turn(300);
        assertThat(versionsAt(3)).as("nothing is copied again").hasSize(OBJECTS);
        assertThat(copied).as("it counts in the other epoch too").containsExactly("3@2", "3@3");
    }

    /** R9: it has received only the rest of a copy that began for the former one. */
    @Test
    void shouldNotCallAnotherIncarnationComplete() {
        final Configuration joining = adopt(RolesOfOne.changed(first, Set.of(1), 1, 2));
        while (agent.entries() == 0) {
            turn(1);
        }
        clock.advanceNs(100_000); // for some of the entries
        agent.doWork();
        assertThat(agent.entries()).isBetween(1L, OBJECTS - 1L);

        adopt(RolesOfOne.returned(joining, 1));
        turn(1);
        assertThat(copied).as("of the former incarnation").isEmpty();
        turn(300);
        assertThat(announced).containsExactly("1@2", "1@2");
        assertThat(copied).containsExactly("1@2");
        assertThat(versionsAt(1)).hasSize(OBJECTS).doesNotHaveDuplicates();
    }

    /** Other roles are in force a moment before: until then a write takes a version from before the tenure. */
    @Test
    void shouldNotTraverseBeforeTheVersionsAreOfTheTenure() {
        RolesOfOne.replace(roles, RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(10);
        inFlight.announce(SLOT, SHARD, versions.lowerBound());
        inFlight.exact(SLOT, versions.take());
        versions.renew(2);
        turn(300);
        assertThat(phases()).containsExactly(Phase.AWAITING_VERSIONS);
        inFlight.finished(SLOT);
        turn(300);
        assertThat(copied).containsExactly("3@2");
    }

    /** R32: the index does not show it yet, and its backups are those before the change. */
    @Test
    void shouldNotTraverseBeforeWhatIsUnderWayIsFinished() {
        inFlight.announce(SLOT, SHARD, versions.lowerBound());
        final long underWay = versions.take();
        inFlight.exact(SLOT, underWay);

        adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(300);
        assertThat(phases()).containsExactly(Phase.AWAITING_VERSIONS);
        assertThat(servers.isConnected(3)).isFalse();

        inFlight.announce(SLOT, SHARD, versions.lowerBound()); // the next goes to all that are backups now
        inFlight.exact(SLOT, versions.take());
        turn(300);
        assertThat(copied).containsExactly("3@2");
    }

    @Test
    void shouldSendAWindowOfEntriesBeforeTheFirstIsAcknowledged() {
        silent.add(3);
        adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(300);
        assertThat(servers.to(3).messages()).hasSize(CopyWindow.ENTRIES);

        servers.to(3).acknowledge(1);
        turn(2);
        assertThat(servers.to(3).messages()).hasSize(CopyWindow.ENTRIES + 1);
        assertThat(agent.progress().get(0).copiedBytes()).isPositive();
    }

    @Test
    void shouldNotCallCompleteWhatHasNotLanded() {
        silent.add(3);
        adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(100);
        for (int i = CopyWindow.ENTRIES; i < OBJECTS; i++) {
            servers.to(3).acknowledge(1);
            turn(2);
        }
        assertThat(servers.to(3).messages()).hasSize(OBJECTS);
        servers.to(3).acknowledge(CopyWindow.ENTRIES - 1);
        turn(300);
        assertThat(copied).as("one is missing").isEmpty();
        servers.to(3).acknowledge(1);
        turn(1);
        assertThat(copied).containsExactly("3@2");
    }

    @Test
    void shouldNotWaitForAServerThatDoesNotAnswer() {
        silent.add(2);
        adopt(RolesOfOne.changed(first, Set.of(2, 3), 2, 3));
        turn(600);
        assertThat(copied).containsExactly("3@2");
        assertThat(agent.isBusy()).isTrue();
        turn(1100);
        assertThat(agent.isBusy()).as("nothing moves").isFalse();
        assertThat(agent.progress())
                .extracting(CopyProgress::server, CopyProgress::phase)
                .containsExactlyInAnyOrder(tuple(2, Phase.COPYING), tuple(3, Phase.COPIED));
    }

    @Test
    void shouldStopWhenTheServerLeaves() {
        silent.add(3);
        final Configuration joining = adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(300);
        final Configuration without = adopt(RolesOfOne.changed(joining, Set.of(), 1));
        turn(300);
        assertThat(agent.progress()).isEmpty();
        assertThat(agent.isBusy()).isFalse();
        assertThat(copied).isEmpty();

        silent.clear();
        adopt(RolesOfOne.returned(RolesOfOne.changed(without, Set.of(3), 1, 3), 3));
        turn(300);
        assertThat(copied).containsExactly("3@4");
        assertThat(versionsAt(3)).hasSize(OBJECTS).doesNotHaveDuplicates();
    }

    /** It has left and come back between two turns: its tenure is another one, and voids what it had received. */
    @Test
    void shouldBeginAnewWhenTheServerMayHaveLeftMeanwhile() {
        silent.add(3);
        final Configuration joining = adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(100);
        servers.to(3).acknowledge(10);
        turn(2);
        final int before = versionsAt(3).size();
        assertThat(before).isEqualTo(CopyWindow.ENTRIES + 10);
        adopt(RolesOfOne.changed(RolesOfOne.changed(joining, Set.of(), 1), Set.of(3), 1, 3));
        silent.clear();
        turn(300);
        assertThat(copied).containsExactly("3@4");
        final List<Long> received = versionsAt(3);
        assertThat(received.subList(before, received.size()))
                .as("all, to its new tenure")
                .hasSize(OBJECTS)
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldGoOnInAnotherEpoch() {
        silent.add(3);
        final Configuration joining = adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(300);
        adopt(RolesOfOne.changed(joining, Set.of(3), 3));
        silent.clear();
        turn(300);
        assertThat(copied).containsExactly("3@3");
        // What was under way may be sent again.
        assertThat(versionsAt(3).stream().distinct()).hasSize(OBJECTS);
        assertThat(versionsAt(3)).hasSizeLessThanOrEqualTo(OBJECTS + CopyWindow.ENTRIES);
    }

    @Test
    void shouldRepeatWhatTheReceiverHasNotHeard() {
        deaf.add(3);
        adopt(RolesOfOne.changed(first, Set.of(3), 1, 3));
        turn(120);
        assertThat(announced).hasSize(3).containsOnly("3@2");
        assertThat(servers.isConnected(3)).as("its space is not reserved").isFalse();
        deaf.clear();
        while (announced.size() < 4) {
            turn(1);
        }
        deaf.add(3);
        turn(360);
        assertThat(copied).hasSizeBetween(2, 9).containsOnly("3@2");
        assertThat(phases()).containsExactly(Phase.REPORTING);
        deaf.clear();
        turn(60);
        final int calls = copied.size();
        turn(300);
        assertThat(copied).hasSize(calls);
        assertThat(announced).hasSize(4);
        assertThat(phases()).containsExactly(Phase.COPIED);
    }
}
