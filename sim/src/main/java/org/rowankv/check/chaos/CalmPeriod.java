package org.rowankv.check.chaos;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rowankv.topology.Configuration;

/**
 * A time without faults: which servers were excluded nevertheless, and how much of their leases was left when they were
 * renewed, by the servers' metrics. For one thread.
 */
final class CalmPeriod {
    private static final Pattern BUCKET =
            Pattern.compile("rowan_lease_margin_seconds_bucket\\{.*le=\"([^\"]+)\"\\} ([0-9]+)");

    private final Configuration before;
    /** Renewals by upper bound of what was left, in seconds, with those of smaller bounds. */
    private final Map<Double, Long> atFirst;

    private CalmPeriod(Configuration before, Map<Double, Long> atFirst) {
        this.before = before;
        this.atFirst = atFirst;
    }

    static CalmPeriod begin(ChaosCluster cluster) throws IOException {
        return new CalmPeriod(cluster.watch().configuration(), margins(cluster));
    }

    ChaosReport.Calm end(ChaosCluster cluster) throws IOException {
        final Map<Double, Long> counts = margins(cluster);
        atFirst.forEach((bound, count) -> counts.merge(bound, -count, Long::sum));
        return outcome(exclusions(before, cluster.watch().configuration()), counts);
    }

    private static Map<Double, Long> margins(ChaosCluster cluster) throws IOException {
        final Map<Double, Long> counts = new TreeMap<>();
        for (int server = 0; server < cluster.watch().configuration().serverCount(); server++) {
            addMargins(cluster.cluster().cluster().metricsOf(server), counts);
        }
        return counts;
    }

    static void addMargins(String metrics, Map<Double, Long> counts) {
        metrics.lines().forEach(line -> {
            final Matcher matcher = BUCKET.matcher(line);
            if (matcher.matches()) {
                final String bound = matcher.group(1);
                counts.merge(
                        bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound),
                        Long.parseLong(matcher.group(2)),
                        Long::sum);
            }
        });
    }

    /** A server that was excluded is away, or is a member with a later incarnation. */
    static long exclusions(Configuration before, Configuration after) {
        long exclusions = 0;
        for (int server = 0; server < before.serverCount(); server++) {
            exclusions +=
                    after.incarnations().get(server) - before.incarnations().get(server);
            exclusions += after.isMember(server) ? 0 : 1;
        }
        return exclusions;
    }

    /** @param counts of renewals, by upper bound, with those of smaller bounds */
    static ChaosReport.Calm outcome(long exclusions, Map<Double, Long> counts) {
        final long renewals = counts.getOrDefault(Double.POSITIVE_INFINITY, 0L);
        return new ChaosReport.Calm(
                exclusions,
                renewals,
                left(counts, renewals / 2),
                left(counts, renewals / 100),
                left(counts, renewals / 1000));
    }

    /** Milliseconds that at least were left in all but so many renewals: the lower bound of a bucket. */
    private static long left(Map<Double, Long> counts, long except) {
        double lower = 0;
        for (Map.Entry<Double, Long> bucket : new TreeMap<>(counts).entrySet()) {
            if (bucket.getValue() > except) {
                break;
            }
            lower = bucket.getKey();
        }
        return Math.round(lower * TimeUnit.SECONDS.toMillis(1));
    }
}
