package org.rowankv.check.cluster;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.client.LongCall;
import org.rowankv.check.disturb.FaultRound;

/** Bounds on the duration of an operation and on the number of unknown outcomes. */
final class Bounds {
    /** Operation timeout of the clients' managers. */
    static final int TIMEOUT_SECONDS = 10;

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(15);

    private Bounds() {}

    /**
     * Returns why a call took too long; null if it did not. Each request has its own deadline, whatever the cluster
     * does. A call with several requests may begin the last one just after a fault has healed: the time of faults is
     * added. The timer delay of its JVM is added too: the machine delayed its threads that long.
     */
    static @Nullable String whyTooLong(LongCall call, List<FaultRound> faults) {
        final long tookNs = call.returnedNs() - call.invokedNs();
        final long faultsNs = call.isCompound()
                ? faults.stream()
                        .mapToLong(fault -> fault.overlapNs(call.invokedNs(), call.returnedNs()))
                        .sum()
                : 0;
        final long boundNs = LONGEST_NS + call.lagNs() + faultsNs;
        return tookNs <= boundNs
                ? null
                : String.format(
                        Locale.ROOT,
                        "%s took %.1f s, longer than %.1f s: %.1f s of faults, %.1f s by which timers were late",
                        call.name(),
                        tookNs / 1e9,
                        boundNs / 1e9,
                        faultsNs / 1e9,
                        call.lagNs() / 1e9);
    }

    /**
     * Upper bound of unknown outcomes: per caller one for each fault, and one more for each operation timeout that the
     * fault lasted. A broken connection causes none, because requests are retried.
     */
    static long mostUnknown(List<FaultRound> faults, int callers) {
        return callers
                * faults.stream()
                        .mapToLong(fault -> 1 + fault.lengthNs() / PATIENCE_NS)
                        .sum();
    }
}
