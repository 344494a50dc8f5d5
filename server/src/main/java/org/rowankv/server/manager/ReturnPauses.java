package org.rowankv.server.manager;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.topology.Configuration;

/**
 * How long excluded servers wait until they are added again. One that is lost before its replicas are complete, again
 * and again, costs the others configurations and copies for nothing: it waits for twice as long each time. One whose
 * replicas were complete, or that others took over before it stopped, is added at once. As far as this manager has seen: its successor begins without pauses. Not
 * thread-safe.
 */
final class ReturnPauses {
    static final long FIRST_NS = 1_000_000_000L;
    static final long LONGEST_NS = 64 * FIRST_NS;

    private record Pause(long lengthNs, long endNs) {}

    /** By server. */
    private final Map<Integer, Pause> pauses = new HashMap<>();

    /** The members of one configuration that the next one lacks are excluded. */
    void follow(Configuration from, Configuration to, Departures departures, long nowNs) {
        for (int server : from.members()) {
            if (to.isMember(server)) {
                continue;
            }
            if (isWhole(from, server)
                    || departures.hasDeparted(server, from.incarnations().get(server))) {
                pauses.remove(server);
            } else {
                final Pause last = pauses.get(server);
                final long lengthNs = last == null ? FIRST_NS : Math.min(2 * last.lengthNs, LONGEST_NS);
                pauses.put(server, new Pause(lengthNs, nowNs + lengthNs));
            }
        }
    }

    private static boolean isWhole(Configuration of, int server) {
        return of.shards().stream().anyMatch(shard -> shard.isComplete(server))
                && of.shards().stream().noneMatch(shard -> shard.isJoining(server));
    }

    /** Why the server waits; null if it may be added. */
    @Nullable
    String whyNot(int server, long nowNs) {
        final Pause pause = pauses.get(server);
        return pause == null || nowNs - pause.endNs >= 0
                ? null
                : "server " + server + " was lost before its copies were complete, and is added after a pause of "
                        + pause.lengthNs / 1_000_000_000L + " s";
    }
}
