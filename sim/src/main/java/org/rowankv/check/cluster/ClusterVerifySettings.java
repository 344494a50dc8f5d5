package org.rowankv.check.cluster;

import java.nio.file.Path;
import java.util.Set;
import org.rowankv.check.disturb.Disturbance;
import org.rowankv.daemon.Launch;

/**
 * Settings of a run of {@code verify --cluster}.
 *
 * @param seconds minimum length; the run continues until every required event has happened
 * @param callers in all client JVMs together
 * @param jvms client JVMs for these callers
 * @param registers number of registers; some counters and chains are additional
 * @param seed of callers and disturbances; process scheduling is not reproduced
 * @param disturbances the faults to inject
 * @param longestStopSeconds longest stop of a process
 * @param servers launch settings of the server processes
 * @param clientJava the executable that runs the clients
 */
public record ClusterVerifySettings(
        int seconds,
        int callers,
        int jvms,
        int registers,
        long seed,
        Set<Disturbance> disturbances,
        int longestStopSeconds,
        Launch servers,
        Path clientJava) {
    private static final int MOST_CALLERS = 1_000;
    private static final int MOST_REGISTERS = 10_000;
    private static final int LONGEST_STOP_SECONDS = 60;

    public ClusterVerifySettings {
        requireWithin("the time, in seconds,", seconds, 1, Integer.MAX_VALUE);
        requireWithin("--threads", callers, 1, MOST_CALLERS);
        requireWithin("--jvms", jvms, 1, MOST_CALLERS);
        if (jvms > callers) {
            throw new IllegalArgumentException(
                    "--jvms is " + jvms + ", and has to be at most --threads, which is " + callers);
        }
        requireWithin("--keys", registers, 1, MOST_REGISTERS);
        requireWithin("--longest-stop", longestStopSeconds, 1, LONGEST_STOP_SECONDS);
        disturbances = Set.copyOf(disturbances);
    }

    private static void requireWithin(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " is " + value + ", and has to be "
                    + (most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most));
        }
    }
}
