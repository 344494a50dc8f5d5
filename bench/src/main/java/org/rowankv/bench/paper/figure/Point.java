package org.rowankv.bench.paper.figure;

import java.util.List;
import java.util.function.LongFunction;

/**
 * One simulation of a figure.
 *
 * @param labels values of the figure's label columns
 * @param simulation figures of the value columns, for a seed; touches nothing that another one touches
 */
record Point(List<String> labels, LongFunction<List<Double>> simulation) {
    static Point of(LongFunction<List<Double>> simulation, Object... labels) {
        return new Point(java.util.Arrays.stream(labels).map(String::valueOf).toList(), simulation);
    }
}
