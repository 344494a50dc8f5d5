package org.rowankv.daemon.admin;

import java.util.LinkedHashMap;
import java.util.Map;

/** The values of one server's metrics text. A text that is not complete has none. Immutable. */
public final class MetricsReading {
    /** By name and labels, as they stand in the text, in its order. */
    private final Map<String, Double> samples;

    private MetricsReading(Map<String, Double> samples) {
        this.samples = samples;
    }

    public static MetricsReading of(String text) {
        final Map<String, Double> samples = new LinkedHashMap<>();
        if (new MetricsText().add(text)) {
            for (String line : text.lines().toList()) {
                final int end = line.lastIndexOf(' ');
                if (end > 0 && line.charAt(0) != '#') {
                    samples.put(line.substring(0, end), valueOf(line.substring(end + 1)));
                }
            }
        }
        return new MetricsReading(samples);
    }

    private static double valueOf(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    /**
     * The sum of a gauge's or counter's samples.
     *
     * @param labels names and values that the samples have
     * @return NaN if there is none
     */
    public double sum(Metric metric, String... labels) {
        final String name = metric.family() + (metric.type() == Metric.Type.COUNTER ? "_total" : "") + "{";
        return samples.entrySet().stream()
                .filter(sample -> matches(sample.getKey(), name, labels))
                .mapToDouble(Map.Entry::getValue)
                .reduce(Double::sum)
                .orElse(Double.NaN);
    }

    /**
     * An upper bound of a quantile of a histogram's durations since an earlier reading of the same process.
     *
     * @return in seconds; NaN without durations
     */
    public double quantileSince(MetricsReading earlier, double quantile, Metric histogram, String... labels) {
        final String name = histogram.family() + "_bucket{";
        final Map<Double, Double> upTo = new LinkedHashMap<>();
        double all = 0;
        for (Map.Entry<String, Double> sample : samples.entrySet()) {
            if (matches(sample.getKey(), name, labels)) {
                all = sample.getValue() - earlier.samples.getOrDefault(sample.getKey(), 0.0);
                upTo.put(boundOf(sample.getKey()), all);
            }
        }
        if (all <= 0) {
            return Double.NaN;
        }
        for (Map.Entry<Double, Double> bucket : upTo.entrySet()) {
            if (bucket.getValue() >= quantile * all) {
                return bucket.getKey();
            }
        }
        return Double.NaN;
    }

    private static double boundOf(String sample) {
        final int from = sample.indexOf(",le=\"") + 5;
        final String bound = sample.substring(from, sample.indexOf('"', from));
        return bound.equals("+Inf") ? Double.POSITIVE_INFINITY : valueOf(bound);
    }

    private static boolean matches(String sample, String name, String... labels) {
        boolean matches = sample.startsWith(name);
        for (int i = 0; matches && i < labels.length; i += 2) {
            matches = sample.contains("," + labels[i] + "=\"" + labels[i + 1] + "\"");
        }
        return matches;
    }
}
