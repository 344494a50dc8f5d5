package org.rowankv.bench.paper.figure;

import java.util.List;

/** The report: each expectation beside the paper's number and the model's. */
final class Report {
    private static final String CAVEAT = """
            Every number of the column "model" comes from a discrete-event simulation, none from the product or from a
            device. Its constants (parameters.properties) are calibrated or fitted to a few numbers of the paper, one set
            for all figures: agreement shows that the paper's explanation is plausible, not that the model is valid.
            44 of the nominal 64 buffer lines is such a fit; the nominal size would show no write amplification.
            """;

    private Report() {}

    static String text(EvaluationPlan plan, List<ReportLine> lines) {
        final StringBuilder text = new StringBuilder("# The paper's evaluation, by a model\n\n")
                .append(CAVEAT)
                .append("\nSeeds from ")
                .append(plan.seed())
                .append(", ")
                .append(plan.seeds())
                .append(" of them; layout ")
                .append(plan.layout())
                .append("; commit ")
                .append(plan.commit())
                .append(plan.scale().quick() ? "; quick" : "")
                .append(".\n\nA BAR is expected, and missed if it does not hold. KNOWN does not agree with the paper."
                        + " INPUT was put in.\n\n|figure|kind|what|paper|model|verdict|\n|---|---|---|---|---|---|\n");
        for (ReportLine each : lines) {
            text.append("|%s|%s|%s|%s|%s|%s|%n"
                    .replace("%n", "\n")
                    .formatted(each.figure(), each.kind(), each.name(), each.paper(), each.model(), wordOf(each)));
        }
        return text.append("\nHints H1, H2, H4 and H7: not modelled.\n").toString();
    }

    private static String wordOf(ReportLine line) {
        return switch (line.kind()) {
            case BAR -> line.met() ? "met" : "MISSED";
            case KNOWN -> "known difference";
            case INPUT -> "input";
        };
    }
}
