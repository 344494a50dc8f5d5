package org.rowankv.bench.paper.figure;

import java.util.List;
import java.util.Locale;
import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.report.ObjectSizes;

/**
 * What is simulated.
 *
 * @param figures names of figures
 * @param seed the first of the seeds
 * @param seeds how many; bars look at the median
 * @param commit of the sources, for what is written
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

    /** What the results depend on, besides the constants. */
    String origin() {
        return "commit " + commit + "; seeds from " + seed + ", " + seeds + " of them; layout " + layout
                + "; spread of sizes " + scale.spreadPercent() + " %" + (scale.quick() ? "; quick" : "");
    }

    /** The constants in the form of {@code parameters.properties}; each with a comment on its source. */
    String parameters() {
        final StringBuilder text = new StringBuilder("# " + origin() + "\n");
        Costs.properties().forEach(line -> text.append(line).append('\n'));
        for (ObjectSizes sizes : List.of(ObjectSizes.ZIPPY_DB, ObjectSizes.UP2X, ObjectSizes.UDB)) {
            final String name = sizes.name().toLowerCase(Locale.ROOT);
            text.append(String.format(Locale.ROOT, "# paper, 2\n%s.mean-bytes=%.2f\n", name, sizes.mean()));
            text.append(String.format(
                    Locale.ROOT, "# input, not in our text\n%s.deviation-bytes=%.2f\n", name, sizes.deviation()));
        }
        return text.toString();
    }
}
