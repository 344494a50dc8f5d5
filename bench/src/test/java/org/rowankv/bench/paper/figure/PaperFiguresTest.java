package org.rowankv.bench.paper.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.bench.paper.cluster.EntrySizes;

/**
 * The quick form of the evaluation: every bar is met but those that docs/experiments.md lists as missed, and no other
 * difference is excused than those that it lists as known.
 */
final class PaperFiguresTest {
    private static final Path DOCUMENT = Path.of("docs/experiments.md");

    private static Evaluation quick(String figure, int threads) {
        return Evaluation.run(
                new EvaluationPlan(
                        List.of(figure), 1, 1, "none", "paper", Scale.quick(EntrySizes.PAPERS_METADATA, 100)),
                threads,
                line -> {});
    }

    /** Lines of the document's table of one figure: "kind: name". */
    private static List<String> differences(String figure) throws IOException {
        final Path root = Files.exists(DOCUMENT) ? Path.of("") : Path.of("..");
        final List<String> lines = new ArrayList<>();
        for (String line : Files.readAllLines(root.resolve(DOCUMENT))) {
            final String[] cells = line.split("\\|");
            if (cells.length > 3 && cells[1].equals(figure)) {
                lines.add(cells[2] + ": " + cells[3]);
            }
        }
        return lines;
    }

    private static void check(String figure) throws IOException {
        final List<ReportLine> report = quick(figure, 2).report();
        final List<String> differences = new ArrayList<>();
        for (ReportLine each : report) {
            if (each.isMissed()) {
                differences.add("missed: " + each.name());
            } else if (each.kind() == ReportLine.Kind.KNOWN) {
                differences.add("known: " + each.name());
            }
        }
        assertThat(report).anyMatch(each -> each.kind() == ReportLine.Kind.BAR);
        assertThat(differences)
                .as("what differs from the paper in figure %s, of %s", figure, report)
                .containsExactlyInAnyOrderElementsOf(differences(figure));
    }

    @Test
    void shouldMeetTheBarsOfFigure2() throws IOException {
        check("2");
    }

    @Test
    void shouldMeetTheBarsOfFigure8() throws IOException {
        check("8");
    }

    @Test
    void shouldMeetTheBarsOfFigure9() throws IOException {
        check("9");
    }

    @Test
    void shouldMeetTheBarsOfFigure10() throws IOException {
        check("10");
    }

    @Test
    void shouldMeetTheBarsOfTheTrace() throws IOException {
        check("10t");
    }

    @Test
    void shouldMeetTheBarsOfFigure11() throws IOException {
        check("11");
    }

    @Test
    void shouldMeetTheBarsOfFigure13() throws IOException {
        check("13");
    }

    @Test
    void shouldMeetTheBarsOfTable2() throws IOException {
        check("t2");
    }

    @Test
    void shouldMeetTheBarsOfTheHints() throws IOException {
        check("h");
    }

    @Test
    void shouldWriteTheSameBytesOnAnyNumberOfThreads(@TempDir Path directory) throws IOException {
        quick("t2", 1).write(directory.resolve("one"));
        quick("t2", 3).write(directory.resolve("three"));

        final List<Path> files = new ArrayList<>();
        try (var listed = Files.list(directory.resolve("one"))) {
            listed.forEach(files::add);
        }
        assertThat(files)
                .extracting(file -> file.getFileName().toString())
                .containsExactlyInAnyOrder("table2.csv", "table2.svg", "report.md", "parameters.properties");
        for (Path file : files) {
            assertThat(directory.resolve("three").resolve(file.getFileName())).hasSameBinaryContentAs(file);
        }
    }
}
