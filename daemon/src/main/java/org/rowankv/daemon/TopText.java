package org.rowankv.daemon;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.admin.Metric;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** What a cluster does between two samples of its servers, as lines or as JSON. */
final class TopText {
    private static final double P99 = 0.99;
    private static final double MS_PER_S = 1000;
    private static final double PERCENT = 100;
    private static final String UNKNOWN = "-";

    private final String cluster;
    private final ClusterView view;
    private final List<ServerSample> before;
    private final List<ServerSample> now;

    /**
     * @param before the first samples, by member; those of another number of members are not compared
     * @param now the second samples, by member
     */
    TopText(String cluster, ClusterView view, List<ServerSample> before, List<ServerSample> now) {
        this.cluster = cluster;
        this.view = view;
        this.before = before.size() == now.size() ? before : now;
        this.now = now;
    }

    private List<ShardAssignment> shards() {
        final Configuration configuration = view.configuration();
        return configuration == null
                ? List.of()
                : IntStream.range(0, configuration.shardCount())
                        .mapToObj(configuration::shard)
                        .toList();
    }

    /** Complete replicas of all shards. */
    private long copies() {
        return shards().stream()
                .mapToLong(shard -> shard.replicaCount() - shard.joining().size())
                .sum();
    }

    private long joining() {
        return shards().stream().mapToLong(shard -> shard.joining().size()).sum();
    }

    private long ready() {
        return now.stream().filter(each -> each.readiness().equals("ready")).count();
    }

    private long term() {
        final Configuration configuration = view.configuration();
        return configuration == null ? 0 : configuration.term();
    }

    private String manager() {
        final Configuration configuration = view.configuration();
        return configuration == null || !configuration.hasManager()
                ? UNKNOWN
                : view.members().get(configuration.manager()).name();
    }

    /** A server's figures by name, in the order of the columns. Null: unknown. */
    private Map<String, @Nullable Object> figures(int server) {
        final ServerSample to = now.get(server);
        final ServerSample from = before.get(server);
        final double gets = to.rate(from, Metric.CLIENT_REQUESTS, "operation", "get");
        final double puts = to.rate(from, Metric.CLIENT_REQUESTS, "operation", "put");
        final double limit = to.metrics().sum(Metric.SPACE_LIMIT);
        final Map<String, @Nullable Object> figures = new LinkedHashMap<>();
        figures.put("primaries", count(shard -> shard.primary() == server));
        figures.put("replicas", count(shard -> shard.isReplica(server) && !shard.isJoining(server)));
        figures.put("joining", count(shard -> shard.isJoining(server)));
        figures.put("gets_per_s", rounded(gets));
        figures.put("puts_per_s", rounded(puts));
        figures.put("others_per_s", rounded(to.rate(from, Metric.CLIENT_REQUESTS) - gets - puts));
        figures.put("get_p99_ms", p99(from, to, "get"));
        figures.put("put_p99_ms", p99(from, to, "put"));
        figures.put("connections", rounded(to.metrics().sum(Metric.CLIENT_CONNECTIONS)));
        figures.put("entries", rounded(to.metrics().sum(Metric.INDEX_ENTRIES)));
        figures.put(
                "space_percent",
                rounded(PERCENT * (limit - to.metrics().sum(Metric.SPACE_AVAILABLE)) / Math.max(1, limit)));
        figures.put("commit_lag", rounded(to.metrics().sum(Metric.COMMIT_LAG)));
        figures.put("cpu_percent", rounded(PERCENT * to.rate(from, Metric.PROCESS_CPU)));
        return figures;
    }

    private long count(Predicate<ShardAssignment> condition) {
        return shards().stream().filter(condition).count();
    }

    private static @Nullable Long rounded(double value) {
        return Double.isFinite(value) ? Long.valueOf(Math.round(value)) : null;
    }

    /** The bound of a bucket, to three digits; null without requests, or beyond the last bound. */
    private static @Nullable Double p99(ServerSample from, ServerSample to, String operation) {
        final double seconds =
                to.metrics().quantileSince(from.metrics(), P99, Metric.CLIENT_REQUEST_DURATION, "operation", operation);
        return Double.isFinite(seconds) ? Double.valueOf(String.format(Locale.ROOT, "%.3g", seconds * MS_PER_S)) : null;
    }

    String json() {
        final Map<String, Object> all = new LinkedHashMap<>();
        all.put("cluster", cluster);
        all.put("term", term());
        all.put("manager", manager());
        all.put("ready", ready());
        all.put("shards", shards().size());
        all.put("copies", copies());
        all.put("copies_wanted", (long) shards().size() * view.replicas());
        all.put("joining", joining());
        final List<Map<String, @Nullable Object>> servers = new ArrayList<>();
        for (int server = 0; server < view.members().size(); server++) {
            final Map<String, @Nullable Object> each = new LinkedHashMap<>();
            each.put("name", view.members().get(server).name());
            each.put("health", now.get(server).health());
            each.put("readiness", now.get(server).readiness());
            each.putAll(figures(server));
            servers.add(each);
        }
        all.put("servers", servers);
        final StringBuilder json = new StringBuilder();
        write(all, json);
        return json.toString();
    }

    /** Names, numbers and texts of servers, which have no control characters. */
    private static void write(@Nullable Object value, StringBuilder json) {
        if (value instanceof Map<?, ?> map) {
            json.append('{');
            map.forEach((name, each) -> {
                json.append(json.charAt(json.length() - 1) == '{' ? "\"" : ",\"")
                        .append(name);
                json.append("\":");
                write(each, json);
            });
            json.append('}');
        } else if (value instanceof List<?> list) {
            json.append('[');
            list.forEach(each -> {
                json.append(json.charAt(json.length() - 1) == '[' ? "" : ",");
                write(each, json);
            });
            json.append(']');
        } else if (value instanceof String text) {
            json.append('"')
                    .append(text.replace("\\", "\\\\").replace("\"", "\\\""))
                    .append('"');
        } else {
            json.append(value);
        }
    }

    /** Two lines about the cluster, a head, and a line for each server. */
    List<String> lines() {
        final List<String> lines = new ArrayList<>();
        lines.add("cluster " + cluster + ": term " + term() + ", manager " + manager());
        lines.add(ready() + " of " + view.members().size() + " servers ready, " + shards().size() + " shards, copies "
                + copies() + " of " + (long) shards().size() * view.replicas() + ", joining " + joining());
        lines.add(String.format(
                "%-16s %5s %5s %5s %8s %8s %8s %9s %9s %6s %9s %6s %6s %5s  %s",
                "server",
                "prim",
                "repl",
                "join",
                "get/s",
                "put/s",
                "other/s",
                "get99ms",
                "put99ms",
                "conns",
                "entries",
                "space%",
                "lag",
                "cpu%",
                "readiness"));
        for (int server = 0; server < view.members().size(); server++) {
            final MemberView member = view.members().get(server);
            final Object[] figures = figures(server).values().stream()
                    .map(each -> each == null ? UNKNOWN : each)
                    .toArray();
            lines.add(String.format("%-16s ", member.name())
                    + String.format("%5s %5s %5s %8s %8s %8s %9s %9s %6s %9s %6s %6s %5s  ", figures)
                    + now.get(server).readiness());
        }
        return lines;
    }
}
