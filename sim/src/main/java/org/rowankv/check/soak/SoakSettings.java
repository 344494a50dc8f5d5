package org.rowankv.check.soak;

import java.nio.file.Path;
import org.rowankv.runtime.CounterStarts;

/**
 * Settings of a soak run.
 *
 * @param seconds how long writers and readers run
 * @param utilisation percent of the space for live entries to use
 * @param servers in this JVM; each holds every object
 * @param capacityBytes of each server's area
 * @param writers writer threads, each with its own keys
 * @param readers threads that read all keys
 * @param limitedCaches caches with a limit, at least 1
 * @param counters start values of the store's counters
 * @param leastMultiple how often the capacity must have been written
 * @param seed of the operations; thread scheduling is not reproduced
 * @param directory of the store, empty or missing
 */
public record SoakSettings(
        int seconds,
        int utilisation,
        int servers,
        long capacityBytes,
        int writers,
        int readers,
        int limitedCaches,
        CounterStarts counters,
        int leastMultiple,
        long seed,
        Path directory) {
    private static final int MOST_CACHES = 100;

    public SoakSettings {
        if (seconds < 1 || servers < 1 || writers < 1 || readers < 1) {
            throw new IllegalArgumentException("time, servers, writers and readers are at least 1");
        }
        if (limitedCaches < 1 || limitedCaches > MOST_CACHES) {
            throw new IllegalArgumentException(
                    "caches with a limit are 1 to " + MOST_CACHES + ", not " + limitedCaches);
        }
        if (utilisation < 10 || utilisation > 95) {
            throw new IllegalArgumentException("the utilisation is 10 to 95 percent, not " + utilisation);
        }
    }
}
