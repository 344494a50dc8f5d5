package org.rowankv.server.recovery;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.rowankv.runtime.Clock;

/**
 * The progress log of a scan: one line every few seconds, so that a long start is not mistaken for a hang; none for a
 * short one. Thread-safe.
 */
final class ScanProgress {
    static final long EVERY_NS = TimeUnit.SECONDS.toNanos(3);

    private final int serverId;
    private final int segmentCount;
    private final Clock clock;
    private final Consumer<String> listener;
    private long saidNs;
    private int segmentsRead;
    private long entries;

    ScanProgress(int serverId, int segmentCount, Clock clock, Consumer<String> listener) {
        this.serverId = serverId;
        this.segmentCount = segmentCount;
        this.clock = clock;
        this.listener = listener;
        this.saidNs = clock.nanoTime();
    }

    synchronized void segmentRead(long newEntries) {
        segmentsRead++;
        entries += newEntries;
        final long nowNs = clock.nanoTime();
        if (nowNs - saidNs >= EVERY_NS) {
            saidNs = nowNs;
            listener.accept(String.format(
                    Locale.ROOT,
                    "server %d is being read: %d of %d segments (%d %%), %,d entries",
                    serverId,
                    segmentsRead,
                    segmentCount,
                    100L * segmentsRead / segmentCount,
                    entries));
        }
    }
}
