package org.rowankv.check.chaos;

import java.util.List;
import org.rowankv.daemon.Launch;

/**
 * Settings of a run of {@code chaos}.
 *
 * @param rounds number of faults; 0: as many as fit into the time
 * @param seconds length of the run, if rounds is 0
 * @param servers 2 or 3
 * @param leaseMs of the servers
 * @param callers of the cache API, besides the loads of each shard
 * @param seed of faults and requests; process scheduling is not reproduced
 * @param faults kinds to draw from; none: the servers are only watched
 * @param needsAll whether each of these kinds has to happen
 * @param launch of the server processes
 */
public record ChaosSettings(
        int rounds,
        int seconds,
        int servers,
        int leaseMs,
        int callers,
        long seed,
        List<ChaosFault> faults,
        boolean needsAll,
        Launch launch) {
    private static final int MOST_CALLERS = 100;
    private static final int SHORTEST_LEASE_MS = 10;
    private static final int LONGEST_LEASE_MS = 60_000;
    private static final int MOST_SERVERS = 3;

    public ChaosSettings {
        if (rounds < 0 || seconds < 0 || rounds == 0 && seconds == 0) {
            throw new IllegalArgumentException("--rounds and --minutes have to be at least 1");
        }
        requireWithin("--servers", servers, 2, MOST_SERVERS);
        requireWithin("--lease", leaseMs, SHORTEST_LEASE_MS, LONGEST_LEASE_MS);
        requireWithin("--threads", callers, 1, MOST_CALLERS);
        faults = List.copyOf(faults);
        if (faults.isEmpty() && rounds > 0) {
            throw new IllegalArgumentException("--rounds counts faults, and --faults names none: give --minutes");
        }
    }

    boolean isCalm() {
        return faults.isEmpty();
    }

    private static void requireWithin(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + value + ", and has to be " + least + " to " + most);
        }
    }
}
