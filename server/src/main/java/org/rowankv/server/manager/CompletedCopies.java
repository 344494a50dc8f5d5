package org.rowankv.server.manager;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.topology.Configuration;

/** What joining servers have reported to the manager: copies that are complete, and not stored as such. Thread-safe. */
public final class CompletedCopies {
    private record Report(long incarnation, Map<Integer, Integer> epochs) {}

    private final Map<Integer, Report> reports = new ConcurrentHashMap<>();
    private final Runnable alarm;

    /** @param alarm called when there is a report */
    public CompletedCopies(Runnable alarm) {
        this.alarm = alarm;
    }

    /** @param epochs by shard: in another epoch another primary may have sent what is missing there */
    void report(int server, long incarnation, Map<Integer, Integer> epochs) {
        reports.put(server, new Report(incarnation, Map.copyOf(epochs)));
        alarm.run();
    }

    /** Of those reports the replicas that are joining in that configuration, by server. */
    Map<Integer, Set<Integer>> in(Configuration stored) {
        final Map<Integer, Set<Integer>> complete = new TreeMap<>();
        reports.forEach((server, report) -> {
            final Set<Integer> joining = new TreeSet<>();
            report.epochs().forEach((shard, epoch) -> {
                if (stored.names(server, report.incarnation())
                        && shard >= 0
                        && shard < stored.shardCount()
                        && stored.shard(shard).epoch() == epoch
                        && stored.shard(shard).isJoining(server)) {
                    joining.add(shard);
                }
            });
            if (joining.isEmpty()) {
                reports.remove(server, report);
            } else {
                complete.put(server, joining);
            }
        });
        return complete;
    }
}
