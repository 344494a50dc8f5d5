package org.rowankv.server.authority;

/**
 * A lease as its holder counts it: the right to answer reads without its backups. While it holds, no configuration that
 * excludes the holder opens a shard elsewhere. Immutable.
 *
 * @param from when its holder sent the request that was granted; never the later receipt of the grant, which the
 *     manager's waits know nothing of
 */
public record Lease(ClockReading from) {

    public boolean holds(ClockReading now, LeaseTimes times) {
        return now.mostNsSince(from) < times.leaseNs();
    }
}
