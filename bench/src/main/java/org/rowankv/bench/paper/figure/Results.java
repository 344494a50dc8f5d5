package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.rowankv.bench.paper.plot.Series;

/** Results of one figure: a row of values for each point and seed. What is read is the median of the seeds. */
final class Results {
    private final List<String> columns;
    private final Map<List<String>, List<List<Double>>> rows = new LinkedHashMap<>();

    Results(List<String> columns) {
        this.columns = columns;
    }

    void add(List<String> labels, List<Double> values) {
        rows.computeIfAbsent(labels, key -> new ArrayList<>()).add(values);
    }

    double value(String column, Object... labels) {
        final List<List<Double>> all =
                rows.get(Arrays.stream(labels).map(String::valueOf).toList());
        if (all == null) {
            throw new IllegalArgumentException("no point " + Arrays.toString(labels) + " among " + rows.keySet());
        }
        final int index = columns.indexOf(column);
        return median(all.stream().mapToDouble(row -> row.get(index)));
    }

    private static double median(DoubleStream values) {
        final double[] sorted = values.sorted().toArray();
        final int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** Values of a column over the last label. */
    List<Double> over(String column, List<?> last, Object... labels) {
        final Object[] all = Arrays.copyOf(labels, labels.length + 1);
        final List<Double> values = new ArrayList<>();
        for (Object each : last) {
            all[labels.length] = each;
            values.add(value(column, all));
        }
        return values;
    }

    double largest(String column, List<?> last, Object... labels) {
        return over(column, last, labels).stream()
                .mapToDouble(Double::doubleValue)
                .max()
                .orElseThrow();
    }

    Series line(String name, String column, List<Integer> last, Object... labels) {
        return new Series(name, last.stream().map(Integer::doubleValue).toList(), over(column, last, labels));
    }
}
