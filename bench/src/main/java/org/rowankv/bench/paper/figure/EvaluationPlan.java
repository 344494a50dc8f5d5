package org.rowankv.bench.paper.figure;

import java.util.List;

/**
 * What is simulated.
 *
 * @param figures names of figures
 * @param seed the first of the seeds
 * @param seeds how many; bars look at the median
 * @param commit of the sources, for the tables
 * @param layout of entries, {@code paper} or {@code ours}
 */
public record EvaluationPlan(List<String> figures, long seed, int seeds, String commit, String layout, Scale scale) {
    public EvaluationPlan {
        figures = List.copyOf(figures);
        if (seeds < 1 || !Evaluation.names().containsAll(figures)) {
            throw new IllegalArgumentException(
                    "figures are " + String.join(", ", Evaluation.names()) + "; at least one seed");
        }
    }
}
