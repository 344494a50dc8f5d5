package org.rowankv.server.manager;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * What servers report to the manager of some of their shards, in the epochs that these have, until it is stored.
 * Thread-safe.
 */
public final class ShardReports {
    private record Report(long incarnation, Map<Integer, Integer> epochs) {}

    private final Runnable alarm;
    private final BiPredicate<ShardAssignment, Integer> applies;
    private final Map<Integer, Report> reports = new ConcurrentHashMap<>();

    /**
     * @param alarm called when there is a report
     * @param applies whether a report of a server is still to be stored, by what is stored of the shard
     */
    ShardReports(Runnable alarm, BiPredicate<ShardAssignment, Integer> applies) {
        this.alarm = alarm;
        this.applies = applies;
    }

    /** @param epochs by shard: in another epoch another primary may have sent what is missing there */
    public void report(int server, long incarnation, Map<Integer, Integer> epochs) {
        reports.put(server, new Report(incarnation, Map.copyOf(epochs)));
        alarm.run();
    }

    /** Whether every report was seen stored, or does not apply any more. */
    boolean isEmpty() {
        return reports.isEmpty();
    }

    /** Of those reports the shards to which they still apply in that configuration, by server. */
    Map<Integer, Set<Integer>> in(Configuration stored) {
        final Map<Integer, Set<Integer>> all = new TreeMap<>();
        reports.forEach((server, report) -> {
            final Set<Integer> shards = new TreeSet<>();
            report.epochs().forEach((shard, epoch) -> {
                if (stored.names(server, report.incarnation())
                        && shard >= 0
                        && shard < stored.shardCount()
                        && stored.shard(shard).epoch() == epoch
                        && applies.test(stored.shard(shard), server)) {
                    shards.add(shard);
                }
            });
            if (shards.isEmpty()) {
                reports.remove(server, report);
            } else {
                all.put(server, shards);
            }
        });
        return all;
    }
}
