package org.rowankv.sim.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.plant.SourceTree;

class StoreExpectedTest {
    private static final Pattern POINT = Pattern.compile("Chaos\\.point\\(\"([^\"]+)\"\\)");
    /** Points of server processes: clusters reach them. Replicas of a simulated store join at its start. */
    private static final List<String> OF_PROCESSES = List.of(
            "start.ready",
            "start.joining",
            "join.tenure",
            "join.begun",
            "copy.damaged",
            "opening.fetched",
            "leave.step",
            "former.copied",
            "former.over",
            "copy.present");

    @Test
    void shouldExpectEveryPointThatThereIs() throws IOException {
        final Set<String> points = new TreeSet<>();
        for (String module : List.of("runtime", "protocol", "rdma", "driver", "server", "jcache-provider", "sim")) {
            final Path sources = SourceTree.here().root().resolve(module).resolve("src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    final Matcher found = POINT.matcher(Files.readString(file));
                    while (found.find()) {
                        points.add(found.group(1));
                    }
                }
            }
        }
        // Points of the fabrics and the client connections of processes, which no simulated store uses; and those of
        // waiters for a session slot, of which simulated clients have enough.
        points.removeIf(point -> point.startsWith("tcp.")
                || point.startsWith("leased.")
                || point.startsWith("role.")
                || point.startsWith("line."));
        points.removeAll(OF_PROCESSES);
        assertThat(StoreExpected.points()).containsExactlyInAnyOrderElementsOf(points);
    }

    @Test
    void shouldMissWhatDidNotHappen() {
        final EventCounters eventCounters = new EventCounters();
        final int all = StoreExpected.missing(eventCounters).size();
        eventCounters.count("crashes during a start");
        assertThat(StoreExpected.missing(eventCounters)).hasSize(all - 1).doesNotContain("crashes during a start");
    }
}
