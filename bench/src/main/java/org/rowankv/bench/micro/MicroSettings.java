package org.rowankv.bench.micro;

import java.nio.file.Path;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Effort of a measurement.
 *
 * @param java executable of the forked JVMs
 * @param keys keys in the store and in the floors' map
 * @param indexEntries entries for the index-size measurement
 * @param warmups iterations that do not count
 * @param iterations iterations that count
 * @param iterationTime length of each iteration
 */
public record MicroSettings(
        Path java, int keys, int indexEntries, int warmups, int iterations, TimeValue iterationTime) {
    static MicroSettings thorough(Path java, int keys) {
        return new MicroSettings(java, keys, 2_000_000, 4, 6, TimeValue.milliseconds(1500));
    }

    /** One of several rounds; the index is not measured. */
    public static MicroSettings round(Path java, int keys, boolean quick) {
        return quick
                ? new MicroSettings(java, keys, 0, 2, 2, TimeValue.milliseconds(700))
                : new MicroSettings(java, keys, 0, 3, 3, TimeValue.milliseconds(1000));
    }

    /** Smaller and shorter: a smoke test whose ratios are for orientation only. */
    static MicroSettings quick(Path java) {
        return new MicroSettings(java, 200_000, 500_000, 2, 3, TimeValue.milliseconds(700));
    }
}
