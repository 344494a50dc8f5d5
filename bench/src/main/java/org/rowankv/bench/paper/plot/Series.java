package org.rowankv.bench.paper.plot;

import java.util.List;

/**
 * Points of one name.
 *
 * @param x in ascending order for lines; ignored for bars
 */
public record Series(String name, List<Double> x, List<Double> y) {
    public Series {
        if (x.size() != y.size()) {
            throw new IllegalArgumentException(name + ": " + x.size() + " and " + y.size() + " values");
        }
        x = List.copyOf(x);
        y = List.copyOf(y);
    }
}
