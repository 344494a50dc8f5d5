package org.rowankv.bench.paper.plot;

import java.util.List;

/**
 * One plot of a picture.
 *
 * @param groups names of the groups of bars; empty for lines
 */
public record Panel(String title, String xName, String yName, List<String> groups, List<Series> series) {
    public Panel {
        groups = List.copyOf(groups);
        series = List.copyOf(series);
    }

    public static Panel lines(String title, String xName, String yName, List<Series> series) {
        return new Panel(title, xName, yName, List.of(), series);
    }

    /** Bars: one series of as many values as there are groups for each colour. */
    public static Panel bars(String title, String yName, List<String> groups, List<Series> series) {
        return new Panel(title, "", yName, groups, series);
    }
}
