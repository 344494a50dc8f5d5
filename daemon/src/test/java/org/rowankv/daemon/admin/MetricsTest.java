package org.rowankv.daemon.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.daemon.OpenMetrics;
import org.rowankv.daemon.StatusMetrics;
import org.rowankv.daemon.StatusText;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;

/** Metrics are strict OpenMetrics text, complete or absent, and documented. */
@Tag("jvm")
final class MetricsTest {
    private static MetricsText metricsOf(String server, long gets) {
        return new MetricsText()
                .of(server)
                .value(Metric.UP, 1)
                .value(Metric.CLIENT_REQUESTS, gets, "operation", "get", "status", "ok")
                .value(Metric.PROCESS_CPU, 1.25)
                .durations(
                        Metric.CLIENT_REQUEST_DURATION,
                        new long[] {1_000, 20_000},
                        bucket -> gets,
                        gets * 7_000,
                        "operation",
                        "get");
    }

    private static ClusterView view(String... names) {
        return new ClusterView(
                Arrays.stream(names)
                        .map(name -> new MemberView(name, "", "", "", "x:1", 1, 1))
                        .toList(),
                7,
                names.length,
                2,
                null);
    }

    @Test
    void shouldTellEveryFamilyOnceByTheGrammar() {
        final Map<String, OpenMetrics.Family> read =
                OpenMetrics.read(metricsOf("we\"ird\\na\nme", 3).toString());

        assertThat(read.keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(Metric.values()).map(Metric::family).toList());
        for (Metric metric : Metric.values()) {
            assertThat(read.get(metric.family()).type()).isEqualTo(metric.type().text());
            assertThat(read.get(metric.family()).unit()).isEqualTo(metric.unit());
        }
        assertThat(read.get("rowan_client_request_duration_seconds").sum()).isEqualTo(9);
        assertThat(read.get("rowan_up").samples().get(0).labels()).containsEntry("server", "we\\\"ird\\\\na\\nme");
    }

    @Test
    void shouldTellTheServersOfAClusterTogether() {
        final String text = StatusMetrics.of(view("a", "b", "c", "d"), member -> switch (member.name()) {
            case "a" -> metricsOf("a", 5).toString();
            case "b" -> metricsOf("b", 7).toString();
            case "c" -> metricsOf("c", 9).toString().replace("# EOF\n", ""); // ended during its answer
            default -> StatusText.AWAY;
        });

        final Map<String, OpenMetrics.Family> read = OpenMetrics.read(text);
        assertThat(read.get("rowan_client_requests").sum("server", "a")).isEqualTo(5);
        assertThat(read.get("rowan_client_requests").sum("server", "b")).isEqualTo(7);
        assertThat(read.get("rowan_client_requests").sum()).isEqualTo(12);
        assertThat(read.get("rowan_up").sum()).isEqualTo(2);
        assertThat(read.get("rowan_up").samples()).hasSize(4);
        assertThat(read.get("rowan_client_request_duration_seconds").samples()).hasSize(2 * 5);
    }

    @Test
    void shouldAddNothingOfWhatIsNotWhole() {
        final MetricsText text = new MetricsText();

        assertThat(text.add("starting\n")).isFalse();
        assertThat(text.add("rowan_up{server=\"a\"} 1\n# EOF\n")).isFalse();
        assertThat(text.add("")).isFalse();
        assertThat(text.toString()).isEqualTo(new MetricsText().toString());
    }

    /** The checker of these tests detects faults. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "# EOF",
                "# EOF\n# EOF\n",
                "\n# EOF\n",
                "a 1\n# EOF\n",
                "# TYPE a gauge\na 1\na 1\n# EOF\n",
                "# TYPE a gauge\na{b=\"c\",} 1\n# EOF\n",
                "# TYPE a gauge\na{b=\"c\\x\"} 1\n# EOF\n",
                "# TYPE a gauge\na{b=\"c\",b=\"d\"} 1\n# EOF\n",
                "# TYPE a gauge\na one\n# EOF\n",
                "# TYPE a gauge\n# TYPE a gauge\n# EOF\n",
                "# TYPE a gauge\na 1\n# HELP a late\n# EOF\n",
                "# TYPE a counter\na 1\n# EOF\n",
                "# TYPE a counter\na_total -1\n# EOF\n",
                "# TYPE a gauge\n# UNIT a bytes\n# EOF\n",
                "# TYPE a gauge\na 1\n# TYPE b gauge\na 2\n# EOF\n",
                "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_count 1\na_sum 1\n# EOF\n",
                "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\na_sum 1\n# EOF\n",
                "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 2\na_sum 1\n# EOF\n",
            })
    void shouldFindFaultsInWhatIsNoSuchText(String text) {
        assertThatThrownBy(() -> OpenMetrics.read(text)).isInstanceOf(AssertionError.class);
    }

    private static String table() {
        final StringBuilder table = new StringBuilder("| metric | type | labels | |\n| --- | --- | --- | --- |\n");
        for (Metric metric : Metric.values()) {
            table.append("| `").append(metric.family()).append("` | ");
            table.append(metric.type().text()).append(" | ");
            table.append(metric.labels()).append(" | ").append(metric.help()).append(" |\n");
        }
        return table.toString();
    }

    @Test
    void shouldBeDocumentedOneByOne() throws IOException {
        assertThat(Files.readString(Path.of("../docs/operations.md")))
                .as("docs/operations.md must hold this table:%n%s", table())
                .contains(table());
        assertThat(List.of(Metric.values()))
                .allSatisfy(metric -> assertThat(metric.help()).endsWith("."));
    }
}
