package org.rowankv.check.copies;

import java.io.PrintStream;
import java.util.Locale;

/**
 * What was measured.
 *
 * @param objects that were copied
 * @param bytes of their keys and values
 * @param seconds from when copies began until all were complete
 * @param perSecond rate of the callers' operations, half of what they reach
 * @param controlMs 99th percentile of their times before the loss
 * @param copyingMs the same while copies were made
 * @param copyingPerSecond rate that the callers reached meanwhile; if it is lower, copyingMs says only that they fell behind
 * @param failures operations that were not answered OK
 * @param lastFailure empty if there is none
 */
public record CopyRateReport(
        long objects,
        long bytes,
        double seconds,
        double perSecond,
        double controlMs,
        double copyingMs,
        double copyingPerSecond,
        long failures,
        String lastFailure) {
    private static final double BYTES_PER_MB = 1e6;
    private static final double TARGET_MB = 100;
    private static final double TARGET_OBJECTS = 80_000;
    private static final double TARGET_SLOWER = 2;

    /** Prints it beside the targets; a target that is missed is no failure. */
    public void print(PrintStream out) {
        final double megabytes = bytes / BYTES_PER_MB / seconds;
        final double rate = objects / seconds;
        final double slower = copyingMs / controlMs;
        out.printf(
                Locale.ROOT,
                "  copied %,d objects, %.1f MB, in %.2f s: %.1f MB/s, %,.0f objects/s; target >= %.0f MB/s or %,.0f objects/s: %s%n",
                objects,
                bytes / BYTES_PER_MB,
                seconds,
                megabytes,
                rate,
                TARGET_MB,
                TARGET_OBJECTS,
                word(megabytes >= TARGET_MB || rate >= TARGET_OBJECTS));
        out.printf(
                Locale.ROOT,
                "  p99 of %,.0f operations/s: %.2f ms before, %.2f ms of %,.0f meanwhile: %.2f x; target < %.0f x: %s%n",
                perSecond,
                controlMs,
                copyingMs,
                copyingPerSecond,
                slower,
                TARGET_SLOWER,
                word(slower < TARGET_SLOWER));
        if (failures > 0) {
            out.println("  a caller's " + lastFailure);
        }
        out.printf(
                Locale.ROOT,
                "bench copy: objects=%d mb_per_s=%.1f objects_per_s=%.0f p99_ms=%.2f p99_copying_ms=%.2f failures=%d%n",
                objects,
                megabytes,
                rate,
                controlMs,
                copyingMs,
                failures);
    }

    private static String word(boolean reached) {
        return reached ? "reached" : "MISSED";
    }
}
