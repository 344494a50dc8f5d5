package org.rowankv.daemon;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** A cluster's state as text or JSON. */
public final class StatusText {
    public static final String AWAY = "away";
    private static final String HEALTH = "health";
    /** Counters since process start, by their names at the admin port. */
    private static final List<String> COUNTS = List.of("stale-terms", "retries-joined");

    private final String cluster;
    private final ClusterView view;
    /** By member: its status values by name; only its health if it does not answer. */
    private final List<Map<String, String>> statuses;

    /** Requests the status of each server of the cluster. */
    StatusText(String cluster, ClusterView view) {
        this(cluster, view, StatusText::ask);
    }

    /** @param request returns a server's status values */
    StatusText(String cluster, ClusterView view, Function<MemberView, Map<String, String>> request) {
        this.cluster = cluster;
        this.view = view;
        this.statuses = view.members().stream().map(request).toList();
    }

    private static Map<String, String> ask(MemberView member) {
        if (member.admin().isEmpty()) {
            return Map.of(HEALTH, "unknown");
        }
        try {
            return AdminRequest.askStatus(HostAndPort.parse(member.admin()));
        } catch (IOException e) {
            return Map.of(HEALTH, AWAY);
        }
    }

    private String health(int server) {
        return statuses.get(server).getOrDefault(HEALTH, AWAY);
    }

    private String threading(int server) {
        return statuses.get(server).getOrDefault("threading", "-");
    }

    /** Servers that serve in the present term. */
    int serving() {
        int count = 0;
        for (int server = 0; server < statuses.size(); server++) {
            if (health(server).equals("serving") && view.members().get(server).hasRoles()) {
                count++;
            }
        }
        return count;
    }

    private long term() {
        final Configuration configuration = view.configuration();
        return configuration == null ? 0 : configuration.term();
    }

    private int primaries(int server) {
        final Configuration configuration = view.configuration();
        return configuration == null
                ? 0
                : (int) configuration.shards().stream()
                        .filter(shard -> shard.primary() == server)
                        .count();
    }

    private int replicas(int server) {
        final Configuration configuration = view.configuration();
        return configuration == null
                ? 0
                : (int) configuration.shards().stream()
                        .filter(shard -> shard.isReplica(server))
                        .count();
    }

    private int joining(int server) {
        final Configuration configuration = view.configuration();
        return configuration == null
                ? 0
                : (int) configuration.shards().stream()
                        .filter(shard -> shard.isJoining(server))
                        .count();
    }

    private boolean isExcluded(int server) {
        final Configuration configuration = view.configuration();
        return configuration != null && !configuration.isMember(server);
    }

    /** Shards with fewer complete replicas than the cluster keeps. */
    private long degraded() {
        final Configuration configuration = view.configuration();
        return configuration == null
                ? 0
                : configuration.shards().stream()
                        .filter(shard -> shard.replicaCount() - shard.joining().size() < view.replicas())
                        .count();
    }

    /** Shards that take no writes: they have fewer complete replicas than the servers demand. */
    private long readOnly() {
        final int least = statuses.stream()
                .map(status -> status.getOrDefault("min-replicas", ""))
                .filter(text -> text.matches("[0-9]{1,4}"))
                .mapToInt(Integer::parseInt)
                .max()
                .orElse(1);
        final Configuration configuration = view.configuration();
        return configuration == null
                ? 0
                : configuration.shards().stream()
                        .filter(shard -> shard.replicaCount() - shard.joining().size() < least)
                        .count();
    }

    String text(boolean withShards) {
        final StringBuilder text = new StringBuilder();
        text.append("cluster ").append(cluster);
        if (view.clusterId() != 0) {
            text.append(" (").append(Long.toHexString(view.clusterId())).append(')');
        }
        text.append(": term ")
                .append(term())
                .append(", ")
                .append(view.expected())
                .append(" servers, ");
        text.append(view.replicas()).append(" replicas");
        final @Nullable Configuration configuration = view.configuration();
        text.append(configuration == null ? "" : ", " + configuration.shardCount() + " shards")
                .append(
                        configuration == null || !configuration.hasManager()
                                ? ""
                                : ", manager "
                                        + view.members()
                                                .get(configuration.manager())
                                                .name())
                .append('\n');
        for (int server = 0; server < view.members().size(); server++) {
            final MemberView member = view.members().get(server);
            text.append(String.format(
                    "  %-3d %-16s %-22s %-22s start %-5d %4d primaries %4d replicas %4d joining  %-9s  %s%n",
                    server,
                    member.name(),
                    member.clients().isEmpty() ? "-" : member.clients(),
                    member.address().isEmpty() ? "-" : member.address(),
                    member.announced(),
                    primaries(server),
                    replicas(server),
                    joining(server),
                    threading(server),
                    isExcluded(server) ? health(server) + ", excluded" : health(server)));
        }
        if (withShards && configuration != null) {
            for (int shard = 0; shard < configuration.shardCount(); shard++) {
                text.append("  shard ").append(shard).append(": ").append(configuration.shard(shard));
                text.append('\n');
            }
        }
        text.append("status: term=")
                .append(term())
                .append(" servers=")
                .append(view.members().size());
        text.append(" serving=").append(serving());
        text.append(" degraded=").append(degraded());
        text.append(readOnly() == 0 ? "" : " read-only=" + readOnly()).append('\n');
        return text.toString();
    }

    String json() {
        final StringBuilder json = new StringBuilder("{\"cluster\":").append(quoted(cluster));
        json.append(",\"id\":").append(quoted(Long.toHexString(view.clusterId())));
        json.append(",\"term\":").append(term());
        json.append(",\"replicas\":").append(view.replicas());
        json.append(",\"serving\":").append(serving());
        json.append(",\"degraded\":").append(degraded());
        json.append(",\"read_only\":").append(readOnly());
        json.append(",\"servers\":[");
        for (int server = 0; server < view.members().size(); server++) {
            final MemberView member = view.members().get(server);
            json.append(server == 0 ? "" : ",").append("{\"server\":").append(server);
            json.append(",\"name\":").append(quoted(member.name()));
            json.append(",\"zone\":").append(quoted(member.zone()));
            json.append(",\"clients\":").append(quoted(member.clients()));
            json.append(",\"address\":").append(quoted(member.address()));
            json.append(",\"announced\":").append(member.announced());
            json.append(",\"incarnation\":").append(member.incarnation());
            json.append(",\"primaries\":").append(primaries(server));
            json.append(",\"joining\":").append(joining(server));
            json.append(",\"excluded\":").append(isExcluded(server));
            json.append(",\"health\":").append(quoted(health(server)));
            json.append(",\"threading\":")
                    .append(quotedOrNull(statuses.get(server).get("threading")));
            for (String count : COUNTS) {
                json.append(",").append(quoted(count.replace('-', '_'))).append(':');
                json.append(numberOrNull(statuses.get(server).get(count)));
            }
            json.append('}');
        }
        json.append("],\"shards\":[");
        final @Nullable Configuration configuration = view.configuration();
        for (int shard = 0; configuration != null && shard < configuration.shardCount(); shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            json.append(shard == 0 ? "" : ",").append("{\"shard\":").append(shard);
            json.append(",\"epoch\":").append(assignment.epoch());
            json.append(",\"primary\":").append(assignment.primary());
            json.append(",\"backups\":[");
            final int[] backups = assignment.backups();
            for (int i = 0; i < backups.length; i++) {
                json.append(i == 0 ? "" : ",").append(backups[i]);
            }
            json.append("]}");
        }
        return json.append("]}").toString();
    }

    private static String quotedOrNull(@Nullable String text) {
        return text == null ? "null" : quoted(text);
    }

    /** A server's answer may be malformed. */
    private static String numberOrNull(@Nullable String text) {
        return text != null && text.matches("[0-9]{1,19}") ? text : "null";
    }

    private static String quoted(String text) {
        final StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
