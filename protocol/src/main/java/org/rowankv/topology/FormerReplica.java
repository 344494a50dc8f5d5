package org.rowankv.topology;

import java.util.ArrayList;
import java.util.List;

/**
 * What a server has of a shard of which it is no complete replica: of a copy under way, or of a former role.
 *
 * @param newest version known to be in it
 * @param entries objects, deletions and superseded ones
 */
public record FormerReplica(int shard, long newest, long entries) {
    private static final int FIELDS = 3;

    /** Lines for the admin port. */
    public static String text(List<FormerReplica> replicas) {
        final StringBuilder text = new StringBuilder();
        for (FormerReplica each : replicas) {
            text.append(each.shard).append(' ').append(each.newest).append(' ');
            text.append(each.entries).append('\n');
        }
        return text.toString();
    }

    /** @throws IllegalArgumentException if these are not such lines */
    public static List<FormerReplica> parse(String text) {
        final List<FormerReplica> replicas = new ArrayList<>();
        for (String line : text.lines().toList()) {
            final String[] fields = line.split(" ", -1);
            try {
                if (fields.length != FIELDS) {
                    throw new NumberFormatException(fields.length + " fields");
                }
                replicas.add(new FormerReplica(
                        Integer.parseInt(fields[0]), Long.parseLong(fields[1]), Long.parseLong(fields[2])));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("a server does not say which replicas it has, but: " + line, e);
            }
        }
        return replicas;
    }
}
