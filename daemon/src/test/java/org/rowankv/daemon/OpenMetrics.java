package org.rowankv.daemon;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A strict reader of OpenMetrics text 1.0: refuses violations of the grammar, and of the standard's rules about names,
 * order and histograms. It supports gauges, counters and histograms; timestamps and exemplars are refused, since no
 * server writes them.
 */
public final class OpenMetrics {
    private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");
    private static final Pattern LABEL =
            Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"");
    private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern NUMBER = Pattern.compile(
            "[+-]?(?:[0-9]+(?:\\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\\.[0-9]+(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?)|(?i:nan))");

    /** One sample: its full name, its labels, its value. */
    public record Sample(String name, Map<String, String> labels, double value) {}

    /** One family. */
    public record Family(String name, String type, String unit, String help, List<Sample> samples) {
        double value(String... labels) {
            return sum(labels);
        }

        /** Sum of the values of its samples with these labels, without buckets and sums. */
        public double sum(String... labels) {
            double sum = 0;
            for (Sample sample : samples) {
                boolean matches =
                        !sample.name.endsWith("_bucket") && !(type.equals("histogram") && sample.name.endsWith("_sum"));
                for (int i = 0; i < labels.length; i += 2) {
                    matches &= labels[i + 1].equals(sample.labels.get(labels[i]));
                }
                sum += matches ? sample.value : 0;
            }
            return sum;
        }
    }

    private final Map<String, Family> families = new LinkedHashMap<>();
    private final Set<String> seen = new HashSet<>();

    public static Map<String, Family> read(String text) {
        return new OpenMetrics().parse(text);
    }

    private static void require(boolean condition, String what, Object line) {
        if (!condition) {
            throw new AssertionError("no OpenMetrics text: " + what + ": " + line);
        }
    }

    private Map<String, Family> parse(String text) {
        require(text.endsWith("# EOF\n"), "does not end with # EOF and a line feed", "");
        require(text.indexOf('\r') < 0, "has a carriage return", "");
        final String[] lines =
                text.substring(0, text.length() - "# EOF\n".length()).split("\n", -1);
        require(lines[lines.length - 1].isEmpty(), "the last line has no end", lines[lines.length - 1]);
        Family now = null;
        for (int i = 0; i < lines.length - 1; i++) {
            final String line = lines[i];
            require(!line.isEmpty(), "an empty line", i);
            if (line.startsWith("#")) {
                now = metadata(line, now);
            } else {
                require(now != null, "a sample without its family", line);
                now.samples.add(sample(line, now));
            }
        }
        families.values().forEach(OpenMetrics::checkHistogram);
        return families;
    }

    private Family metadata(String line, Family now) {
        final String[] words = line.split(" ", 4);
        require(words.length == 4 && words[0].equals("#"), "neither metadata nor a sample", line);
        require(NAME.matcher(words[2]).matches(), "not a name", line);
        Family family = families.get(words[2]);
        if (family == null) {
            family = new Family(words[2], "", "", "", new ArrayList<>());
        } else {
            require(
                    now != null && now.name.equals(family.name) && family.samples.isEmpty(),
                    "metadata behind the family's samples",
                    line);
        }
        final Family next = switch (words[1]) {
            case "TYPE" -> {
                require(family.type.isEmpty(), "a second type", line);
                require(Set.of("gauge", "counter", "histogram").contains(words[3]), "an unknown type", line);
                yield new Family(family.name, words[3], family.unit, family.help, family.samples);
            }
            case "UNIT" -> {
                require(family.unit.isEmpty(), "a second unit", line);
                require(family.name.endsWith("_" + words[3]), "the unit is not the end of the name", line);
                yield new Family(family.name, family.type, words[3], family.help, family.samples);
            }
            case "HELP" -> {
                require(family.help.isEmpty(), "a second help", line);
                require(!words[3].replaceAll("\\\\[\\\\\"n]", "").contains("\\"), "a bad escape", line);
                yield new Family(family.name, family.type, family.unit, words[3], family.samples);
            }
            default -> throw new AssertionError("no OpenMetrics text: neither metadata nor a sample: " + line);
        };
        families.put(next.name, next);
        return next;
    }

    private Sample sample(String line, Family family) {
        final Matcher matcher = SAMPLE.matcher(line);
        require(matcher.matches(), "not a sample", line);
        final String name = matcher.group(1);
        final List<String> suffixes = switch (family.type) {
            case "counter" -> List.of("_total");
            case "histogram" -> List.of("_bucket", "_count", "_sum");
            default -> List.of("");
        };
        require(
                suffixes.stream().anyMatch(suffix -> name.equals(family.name + suffix)),
                "of another family than " + family.name,
                line);
        require(NUMBER.matcher(matcher.group(3)).matches(), "not a number", line);
        final Map<String, String> labels = labels(matcher.group(2), line);
        require(seen.add(name + new TreeMap<>(labels)), "the same sample again", line);
        final double value = Double.parseDouble(matcher.group(3).replaceAll("(?i)\\+?inf", "Infinity"));
        require(family.type.equals("gauge") || value >= 0, "a count below 0", line);
        return new Sample(name, labels, value);
    }

    private static Map<String, String> labels(String text, String line) {
        final Map<String, String> labels = new LinkedHashMap<>();
        if (text == null) {
            return labels;
        }
        final Matcher matcher = LABEL.matcher(text);
        int at = 0;
        while (at < text.length()) {
            require(matcher.find(at) && matcher.start() == at, "not a label", line);
            require(labels.put(matcher.group(1), matcher.group(2)) == null, "a label twice", line);
            at = matcher.end();
            if (at < text.length()) {
                require(text.charAt(at) == ',' && at + 1 < text.length(), "labels without a comma", line);
                at++;
            }
        }
        return labels;
    }

    /**
     * For each metric: ascending bounds up to infinity, ascending counts, the last of them equal to the count; a sum.
     */
    private static void checkHistogram(Family family) {
        require(!family.type.isEmpty(), "a family without a type", family.name);
        if (!family.type.equals("histogram")) {
            return;
        }
        final Map<Map<String, String>, List<Sample>> metrics = new LinkedHashMap<>();
        Map<String, String> before = null;
        for (Sample sample : family.samples) {
            final Map<String, String> labels = new HashMap<>(sample.labels);
            labels.remove("le");
            require(labels.equals(before) || !metrics.containsKey(labels), "a metric in two places", sample);
            before = labels;
            metrics.computeIfAbsent(labels, unused -> new ArrayList<>()).add(sample);
        }
        for (List<Sample> metric : metrics.values()) {
            double bound = Double.NEGATIVE_INFINITY;
            double count = 0;
            final Map<String, Double> rest = new HashMap<>();
            for (Sample sample : metric) {
                if (sample.name.endsWith("_bucket")) {
                    final String le = sample.labels.get("le");
                    require(le != null && NUMBER.matcher(le).matches(), "a bucket without a bound", sample);
                    final double next = Double.parseDouble(le.replace("+Inf", "Infinity"));
                    require(next > bound && sample.value >= count, "buckets do not ascend", sample);
                    bound = next;
                    count = sample.value;
                } else {
                    rest.put(sample.name, sample.value);
                }
            }
            require(bound == Double.POSITIVE_INFINITY, "no last bucket", metric);
            require(rest.size() == 2 && rest.get(family.name + "_count") == count, "count, buckets, sum", metric);
        }
    }
}
