package org.rowankv.bench.paper.figure;

import java.util.List;
import java.util.Locale;

/** A figure's numbers as comma-separated values. Each row has its tier, seed, commit and layout. */
final class CsvTable {
    private final Tier tier;
    private final EvaluationPlan plan;
    private final StringBuilder text = new StringBuilder();

    CsvTable(Tier tier, EvaluationPlan plan, List<String> labelColumns, List<String> valueColumns) {
        this.tier = tier;
        this.plan = plan;
        text.append("tier,seed,git,layout,")
                .append(String.join(",", labelColumns))
                .append(',')
                .append(String.join(",", valueColumns))
                .append('\n');
    }

    void add(long seed, List<String> labels, List<Double> values) {
        text.append(tier)
                .append(',')
                .append(seed)
                .append(',')
                .append(plan.commit())
                .append(',')
                .append(plan.layout());
        labels.forEach(each -> text.append(',').append(each));
        values.forEach(each -> text.append(',').append(String.format(Locale.ROOT, "%.4f", each)));
        text.append('\n');
    }

    String text() {
        return text.toString();
    }
}
