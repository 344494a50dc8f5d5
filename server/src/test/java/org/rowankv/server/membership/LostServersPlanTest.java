package org.rowankv.server.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.LostServers.LiveServer;
import org.rowankv.server.membership.LostServers.Plan;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;
import org.rowankv.topology.ShardAssignment;

/** Five servers: c and d have the only complete replicas of shard 1, a copy to b is under way, and e is excluded. */
final class LostServersPlanTest {
    private static final ClusterShape SHAPE = new ClusterShape(5, 2, 6, 64 << 10, 16 << 10, Durability.PROCESS);

    private final ConfigurationStore store = new MemoryConfigurationStore();
    private final ClusterNodes nodes = new ClusterNodes(store, "test", new SplittableRandomSource(1));
    private final LostServers lost = new LostServers(store, "recover", new SplittableRandomSource(2));
    private final LiveServer first = new LiveServer("a", true, List.of());

    private static final Configuration FOUND = new Configuration(
            5,
            6,
            9,
            List.of(3L, 3L, 3L, 3L, 3L),
            List.of(
                    new ShardAssignment(4, 0, new int[] {2}),
                    new ShardAssignment(4, 2, new int[] {1, 3}, Set.of(1)),
                    new ShardAssignment(4, 3, new int[] {0}),
                    new ShardAssignment(4, 1, new int[] {0})),
            7,
            2,
            Set.of(4));

    @BeforeEach
    void create() {
        assertThat(nodes.create(new Members(
                        5,
                        6,
                        SHAPE,
                        List.of("a", "b", "c", "d", "e"),
                        List.of(1L, 2L, 3L, 4L, 5L),
                        List.of("", "", "", "", ""))))
                .isTrue();
        assertThat(nodes.decide(FOUND, ConfigurationStore.ABSENT)).isTrue();
    }

    private static LiveServer having(String name, long newest) {
        return new LiveServer(name, true, List.of(new FormerReplica(1, newest, 10)));
    }

    @Test
    void shouldExcludeThem() {
        final Plan plan = lost.plan(List.of("c", "d"), List.of(first));
        final Configuration next = plan.next();
        assertThat(next.term()).isEqualTo(10);
        assertThat(next.startTerm()).as("a common start").isEqualTo(10);
        assertThat(next.hasManager()).isFalse();
        assertThat(next.members()).containsExactly(0, 1);
        assertThat(next.shards())
                .containsExactly(
                        new ShardAssignment(5, 0, new int[0]),
                        new ShardAssignment(5, 0, new int[0], Set.of(), 5),
                        new ShardAssignment(5, 0, new int[0]),
                        new ShardAssignment(4, 1, new int[] {0}));
        assertThat(plan.losses()).containsExactly(new LostServers.Loss(1, List.of("c", "d"), "a", null));
        assertThat(plan.waitsFor()).isEmpty();
        assertThat(lost.store(plan)).isTrue();
        assertThat(nodes.configuration().configuration()).isEqualTo(next);
        assertThat(lost.store(plan)).as("once").isFalse();
    }

    @Test
    void shouldGoOnWithTheNewestThatIsLeft() {
        final Plan plan = lost.plan(List.of("c", "d"), List.of(having("a", 7), having("e", 9), having("b", 8)));
        assertThat(plan.losses()).singleElement().satisfies(loss -> {
            assertThat(loss.server()).isEqualTo("e");
            assertThat(loss.left()).isEqualTo(new FormerReplica(1, 9, 10));
        });
        assertThat(plan.next().shard(1)).isEqualTo(new ShardAssignment(5, 4, new int[0]));
        assertThat(plan.next().members()).containsExactly(0, 1, 4);
    }

    /** It registered for a start, and was lost: no start waits for it. */
    @Test
    void shouldExcludeWhatTheyHaveRegisteredToo() {
        nodes.announce(new ServerRegistration("d", 4, new HostAndPort("127.0.0.1", 1), "", "", "", SHAPE, 5, 77));
        final Plan plan = lost.plan(List.of("c", "d"), List.of(first));
        assertThat(plan.next().incarnations()).containsExactly(3L, 3L, 3L, 5L, 3L);
    }

    @Test
    void shouldBeginNothingOnAServerWithoutItsArea() {
        final Plan plan = lost.plan(List.of("c", "d"), List.of(new LiveServer("b", false, List.of()), first));
        assertThat(plan.losses().get(0).server()).isEqualTo("a");
        assertThatThrownBy(() -> lost.plan(List.of("c", "d"), List.of(new LiveServer("b", false, List.of()))))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("start them first");
    }

    @Test
    void shouldSayWhichOthersAreMissing() {
        final Plan plan = lost.plan(List.of("c", "d"), List.of(having("e", 9)));
        assertThat(plan.waitsFor()).containsExactly("a", "b");
    }

    @Test
    void shouldRefuse() {
        final List<LiveServer> live = List.of(first);
        assertThatThrownBy(() -> lost.plan(List.of("c", "x"), live)).hasMessageContaining("no server 'x'");
        assertThatThrownBy(() -> lost.plan(List.of("c"), live)).hasMessageContaining("server 'c' is not needed");
        assertThatThrownBy(() -> lost.plan(List.of("c", "d", "b"), live))
                .hasMessageContaining("server 'b' is not needed");
        assertThatThrownBy(() -> lost.plan(List.of("c", "d", "e"), live))
                .hasMessageContaining("server 'e' is not needed");
        assertThatThrownBy(() -> lost.plan(List.of("c", "d"), List.of(first, new LiveServer("d", true, List.of()))))
                .hasMessageContaining("server 'd' runs");
        assertThatThrownBy(() -> lost.plan(List.of("a", "b", "c", "d", "e"), live))
                .hasMessageContaining("all servers");
        assertThat(nodes.configuration().configuration())
                .as("nothing is stored")
                .isEqualTo(FOUND);
    }
}
