package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.admin.Metric;
import org.rowankv.daemon.admin.MetricsReading;
import org.rowankv.daemon.admin.MetricsText;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Rates between two samples, and what is unknown of servers that do not answer or have started again. */
class TopTextTest {
    private static final long SECOND_NS = 1_000_000_000L;

    private static final ClusterView VIEW = new ClusterView(
            List.of(member("a"), member("b")),
            7,
            2,
            2,
            new Configuration(
                    7,
                    9,
                    8,
                    List.of(1L, 1L),
                    List.of(
                            new ShardAssignment(1, 0, new int[] {1}),
                            new ShardAssignment(1, 1, new int[] {0}, Set.of(0)))));

    private static MemberView member(String name) {
        return new MemberView(name, "", "h:1", "h:2", "h:3", 1, 1);
    }

    private static ServerSample sample(long gets, long puts, double cpu, long atNs) {
        final MetricsText text = new MetricsText()
                .of("a")
                .value(Metric.CLIENT_REQUESTS, gets, "operation", "get", "status", "ok")
                .value(Metric.CLIENT_REQUESTS, 7, "operation", "get", "status", "not_found")
                .value(Metric.CLIENT_REQUESTS, puts, "operation", "put", "status", "ok")
                .value(Metric.SPACE_LIMIT, 1000)
                .value(Metric.SPACE_AVAILABLE, 250)
                .value(Metric.PROCESS_CPU, cpu);
        return new ServerSample(
                Map.of("health", "serving", "ready", "ready"), MetricsReading.of(text.toString()), atNs);
    }

    private static final ServerSample AWAY = new ServerSample(Map.of(), MetricsReading.of(""), 0);

    @Test
    void shouldTellWhatHappenedBetweenTwoSamples() {
        final TopText text = new TopText(
                "shop",
                VIEW,
                List.of(sample(1_000, 10, 1.0, SECOND_NS), AWAY),
                List.of(sample(5_000, 20, 2.0, 3 * SECOND_NS), AWAY));

        assertThat(text.json())
                .startsWith("{\"cluster\":\"shop\",\"term\":8,\"manager\":")
                .contains("\"ready\":1,\"shards\":2,\"copies\":3,\"copies_wanted\":4,\"joining\":1")
                .contains(
                        "{\"name\":\"a\",\"health\":\"serving\",\"readiness\":\"ready\",\"primaries\":1,\"replicas\":1,"
                                + "\"joining\":1,\"gets_per_s\":2000,\"puts_per_s\":5,\"others_per_s\":0,")
                .contains("\"space_percent\":75,", "\"cpu_percent\":50}");
        assertThat(text.lines())
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("cluster shop: term 8, manager "),
                        second -> assertThat(second)
                                .isEqualTo("1 of 2 servers ready, 2 shards, copies 3 of 4, joining 1"),
                        head -> assertThat(head).startsWith("server ").endsWith("readiness"),
                        a -> assertThat(a).matches("a +1 +1 +1 +2000 +5 +0 .* ready"),
                        b -> assertThat(b).matches("b +1 +2 +0 +- +- +- .* away"));
    }

    @Test
    void shouldNotTellRatesOfAServerThatHasStartedAgain() {
        final TopText text = new TopText(
                "shop",
                VIEW,
                List.of(sample(1_000, 10, 1.0, SECOND_NS), AWAY),
                List.of(sample(4, 0, 0.1, 3 * SECOND_NS), AWAY));

        assertThat(text.json()).contains("\"gets_per_s\":null,\"puts_per_s\":null,\"others_per_s\":null");
    }

    @Test
    void shouldNotCompareSamplesOfOtherMembers() {
        final TopText text = new TopText("shop", VIEW, List.of(), List.of(sample(1, 1, 1, SECOND_NS), AWAY));

        assertThat(text.json()).contains("\"gets_per_s\":null").contains("\"space_percent\":75");
    }

    @Test
    void shouldFindQuantilesInTheBucketsThatHaveGrown() {
        final MetricsReading before = MetricsReading.of(buckets("5", "6", "6"));
        final MetricsReading now = MetricsReading.of(buckets("5", "16", "17"));

        assertThat(now.quantileSince(before, 0.5, Metric.CLIENT_REQUEST_DURATION, "operation", "get"))
                .isEqualTo(0.02);
        assertThat(now.quantileSince(before, 0.99, Metric.CLIENT_REQUEST_DURATION, "operation", "get"))
                .isInfinite();
        assertThat(now.quantileSince(now, 0.5, Metric.CLIENT_REQUEST_DURATION, "operation", "get"))
                .isNaN();
        assertThat(now.quantileSince(before, 0.5, Metric.CLIENT_REQUEST_DURATION, "operation", "put"))
                .isNaN();
    }

    private static String buckets(String first, String second, String last) {
        final String name = "rowan_client_request_duration_seconds_bucket{server=\"a\",operation=\"get\",le=";
        return "# TYPE rowan_client_request_duration_seconds histogram\n" + name + "\"0.001\"} " + first + "\n" + name
                + "\"0.02\"} " + second + "\n" + name + "\"+Inf\"} " + last + "\n# EOF\n";
    }
}
