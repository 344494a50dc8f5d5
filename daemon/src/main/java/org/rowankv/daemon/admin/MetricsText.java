package org.rowankv.daemon.admin;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Metrics as OpenMetrics text 1.0: families in a fixed order, the samples of each together, of all servers. For one
 * thread.
 */
public final class MetricsText {
    private static final String END = "# EOF\n";

    private final Map<Metric, List<String>> samples = new EnumMap<>(Metric.class);

    /** Server of the next samples. */
    private String server = "";

    public MetricsText of(String nextServer) {
        server = nextServer;
        return this;
    }

    /** Adds the value of a gauge or counter. */
    public MetricsText value(Metric metric, long value, String... labels) {
        return sample(metric, suffix(metric), Long.toString(value), labels);
    }

    public MetricsText value(Metric metric, double value, String... labels) {
        return sample(metric, suffix(metric), text(value), labels);
    }

    private static String suffix(Metric metric) {
        return switch (metric.type()) {
            case COUNTER -> "_total";
            case GAUGE -> "";
            case HISTOGRAM -> throw new IllegalArgumentException(metric + " has more than a value");
        };
    }

    /**
     * Adds a histogram of durations.
     *
     * @param boundsNs upper bounds of the buckets except the last, ascending
     * @param counts samples per bucket, without those of smaller buckets
     */
    MetricsText durations(Metric metric, long[] boundsNs, LongUnaryOperator counts, long sumNs, String... labels) {
        long count = 0;
        for (int bucket = 0; bucket <= boundsNs.length; bucket++) {
            count += counts.applyAsLong(bucket);
            final String bound = bucket == boundsNs.length ? "+Inf" : text(boundsNs[bucket] / 1e9);
            sample(metric, "_bucket", Long.toString(count), with(labels, "le", bound));
        }
        sample(metric, "_count", Long.toString(count), labels);
        return sample(metric, "_sum", text(sumNs / 1e9), labels);
    }

    private static String[] with(String[] labels, String name, String value) {
        final String[] all = new String[labels.length + 2];
        System.arraycopy(labels, 0, all, 0, labels.length);
        all[labels.length] = name;
        all[labels.length + 1] = value;
        return all;
    }

    private static String text(double value) {
        return Double.toString(value).toLowerCase(Locale.ROOT);
    }

    private MetricsText sample(Metric metric, String suffix, String value, String... labels) {
        final StringBuilder line = new StringBuilder(metric.family()).append(suffix);
        line.append("{server=\"").append(escaped(server)).append('"');
        for (int i = 0; i < labels.length; i += 2) {
            line.append(',').append(labels[i]).append("=\"").append(escaped(labels[i + 1]));
            line.append('"');
        }
        line.append("} ").append(value).append('\n');
        samples.computeIfAbsent(metric, unused -> new ArrayList<>()).add(line.toString());
        return this;
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /**
     * Adds a server's metrics text.
     *
     * @return false, without a change, if it is not the complete text of a server of this version
     */
    public boolean add(String serverText) {
        if (!serverText.endsWith(END)) {
            return false;
        }
        final Map<Metric, List<String>> added = new EnumMap<>(Metric.class);
        @Nullable Metric metric = null;
        for (String line :
                serverText.substring(0, serverText.length() - END.length()).split("\n", -1)) {
            if (line.startsWith("# TYPE ")) {
                metric = metricOf(line.split(" ", -1)[2]);
            } else if (!line.startsWith("#") && !line.isEmpty()) {
                if (metric == null) {
                    return false;
                }
                added.computeIfAbsent(metric, unused -> new ArrayList<>()).add(line + "\n");
            }
        }
        added.forEach((of, lines) ->
                samples.computeIfAbsent(of, unused -> new ArrayList<>()).addAll(lines));
        return true;
    }

    private static @Nullable Metric metricOf(String family) {
        for (Metric metric : Metric.values()) {
            if (metric.family().equals(family)) {
                return metric;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder();
        for (Metric metric : Metric.values()) {
            text.append(metric.head());
            samples.getOrDefault(metric, List.of()).forEach(text::append);
        }
        return text.append(END).toString();
    }
}
