package org.rowankv.check.soak;

import java.nio.file.Path;
import org.rowankv.runtime.CounterStarts;

/**
 * What a run does.
 *
 * @param seconds how long writers and readers go on
 * @param utilisation percent of the space for live entries that is to be taken
 * @param servers in this JVM; each holds every object
 * @param capacityBytes of each server's area
 * @param writers threads that write, each to keys of its own
 * @param readers threads that read all keys
 * @param limitedCaches caches with a limit, at least 1
 * @param counters where the store's counters begin
 * @param leastMultiple how often the capacity must have been written
 * @param seed of what is asked; how threads interleave is not in it
 * @param directory of the store, empty or not there yet
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
