package org.rowankv.bench.paper.figure;

import java.util.List;

/** The report: each expectation beside the paper's number and what came out, one table for each tier. */
final class Report {
    private static final String CAVEAT = """
            No number here was measured on a device. Constants of the model (parameters.properties) are calibrated or fitted
            to a few numbers of the paper, one set for all figures: agreement shows that the paper's explanation is plausible,
            not that the model is valid. 44 of the nominal 64 buffer lines is such a fit; the nominal size would show no
            write amplification.
            """;

    private Report() {}

    static String text(EvaluationPlan plan, List<ReportLine> lines) {
        final StringBuilder text = new StringBuilder("# The paper's evaluation, by a model\n\n")
                .append(CAVEAT)
                .append("\nOf ")
                .append(plan.origin())
                .append(".\n\nA BAR is expected, and missed if it does not hold. KNOWN does not agree with the paper."
                        + " INPUT was put in.\n");
        for (Tier tier : Tier.values()) {
            final List<ReportLine> some =
                    lines.stream().filter(each -> each.tier() == tier).toList();
            if (!some.isEmpty()) {
                text.append("\n## %s: %s\n\n|figure|kind|what|paper|%s|verdict|\n|---|---|---|---|---|---|\n"
                        .formatted(tier.title(), tier.meaning(), tier));
                some.forEach(each -> text.append("|%s|%s|%s|%s|%s|%s|\n"
                        .formatted(each.figure(), each.kind(), each.name(), each.paper(), each.found(), wordOf(each))));
            }
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
