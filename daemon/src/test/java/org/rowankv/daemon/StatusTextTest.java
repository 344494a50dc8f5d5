package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Status of a cluster with silent servers, or with malformed answers. */
class StatusTextTest {
    private static MemberView member(String name) {
        return new MemberView(name, "", "h:1", "h:2", "h:3", 1, 1);
    }

    private final ClusterView view = new ClusterView(List.of(member("a"), member("b"), member("c")), 7, 3, 2, null);

    private static final Map<String, Map<String, String>> SAID = Map.of(
            "a", Map.of("health", "serving", "threading", "dedicated", "stale-terms", "12", "retries-joined", "0"),
            "b", Map.of("health", StatusText.AWAY),
            "c",
                    Map.of(
                            "health",
                            "starting: \"x\"",
                            "threading",
                            "shared",
                            "stale-terms",
                            "1}",
                            "retries-joined",
                            "-1"));

    private final StatusText text = new StatusText("shop", view, each -> SAID.get(each.name()));

    @Test
    void shouldTellCountsAsNumbersAndWhatIsNotKnownAsNull() {
        assertThat(text.json())
                .contains("\"health\":\"serving\",\"threading\":\"dedicated\",\"stale_terms\":12,\"retries_joined\":0}")
                .contains("\"health\":\"away\",\"threading\":null,\"stale_terms\":null,\"retries_joined\":null}")
                .contains("\"health\":\"starting: \\\"x\\\"\",\"threading\":\"shared\",\"stale_terms\":null,"
                        + "\"retries_joined\":null}");
        assertThat(text.serving()).isEqualTo(1);
    }

    @Test
    void shouldTellTheThreadingModeInWords() {
        assertThat(text.text(false).lines().filter(line -> line.contains(" start 1")))
                .satisfiesExactly(
                        first -> assertThat(first).endsWith("dedicated  serving"),
                        second -> assertThat(second).endsWith("-          away"),
                        third -> assertThat(third).endsWith("shared     starting: \"x\""));
    }

    @Test
    void shouldTellHowManyShardsTakeNoWrites() {
        final Configuration configuration = new Configuration(
                7,
                8,
                3,
                List.of(1L, 1L, 1L),
                List.of(
                        new ShardAssignment(1, 0, new int[] {1}),
                        new ShardAssignment(1, 0, new int[] {1}, Set.of(1)),
                        new ShardAssignment(1, 0, new int[0])));
        final ClusterView managed = new ClusterView(view.members(), 7, 3, 2, configuration);
        assertThat(new StatusText("shop", managed, each -> Map.of("min-replicas", "2")).text(false))
                .endsWith(" degraded=2 read-only=2\n");
        assertThat(new StatusText("shop", managed, each -> Map.of("min-replicas", "1")).text(false))
                .endsWith(" degraded=2\n");
        assertThat(new StatusText("shop", managed, each -> Map.of("min-replicas", "x")).json())
                .contains("\"read_only\":0");
    }
}
