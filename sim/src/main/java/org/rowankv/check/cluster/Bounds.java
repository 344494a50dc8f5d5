package org.rowankv.check.cluster;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.client.LongCall;
import org.rowankv.check.disturb.Fault;

/** How long an operation may take, and how many outcomes may be unknown. */
final class Bounds {
    /** Of the clients' managers: how long an operation tries. */
    static final int PATIENCE_SECONDS = 10;

    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(15);

    private Bounds() {}

    /**
     * Says why a call took too long; null if it did not. A request has its own deadline, whatever the cluster does; a call with
     * several requests may begin the last one when a fault has just healed, so that the time of faults is added. What
     * the timer of its JVM was late is added too: so long the machine kept its threads waiting.
     */
    static @Nullable String whyTooLong(LongCall call, List<Fault> faults) {
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
     * How many outcomes may be unknown: of each caller one for each fault, and one more for each patience that the fault lasted. A
     * connection that breaks leaves none, since requests are repeated.
     */
    static long mostUnknown(List<Fault> faults, int callers) {
        return callers
                * faults.stream()
                        .mapToLong(fault -> 1 + fault.lengthNs() / PATIENCE_NS)
                        .sum();
    }
}
