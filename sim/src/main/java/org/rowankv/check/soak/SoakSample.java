package org.rowankv.check.soak;

import java.util.List;
import org.rowankv.server.engine.ServerStatistics;

/**
 * Measurement of the store at one moment of a run; bytes unless stated otherwise.
 *
 * @param writtenBytes by callers' operations, to the logs of the primaries
 * @param utilisation percent of the space for live entries in use, of the fullest server
 * @param heapBytes after a collection, or −1 if not measured
 * @param fileBytes of all files in the store's directory, or −1
 */
record SoakSample(
        double seconds,
        long writtenBytes,
        double utilisation,
        long segmentsCleaned,
        long relocatedBytes,
        long tombstonesDropped,
        long expired,
        long evicted,
        long heapBytes,
        long fileBytes) {

    static SoakSample of(double seconds, List<ServerStatistics> servers, long heapBytes, long fileBytes) {
        double utilisation = 0;
        for (ServerStatistics server : servers) {
            utilisation = Math.max(
                    utilisation, 100.0 * (server.spaceLimit() - server.spaceAvailable()) / server.spaceLimit());
        }
        return new SoakSample(
                seconds,
                servers.stream().mapToLong(ServerStatistics::tLogBytes).sum(),
                utilisation,
                servers.stream().mapToLong(ServerStatistics::cleanedSegments).sum(),
                servers.stream().mapToLong(ServerStatistics::relocatedBytes).sum(),
                servers.stream().mapToLong(ServerStatistics::tombstonesDropped).sum(),
                servers.stream().mapToLong(ServerStatistics::expiredObjects).sum(),
                servers.stream().mapToLong(ServerStatistics::evictedObjects).sum(),
                heapBytes,
                fileBytes);
    }

    /** Bytes written to a server's memory per byte that callers or primaries send it. */
    double writeAmplification(int servers) {
        final double arrived = (double) writtenBytes * servers;
        return arrived == 0 ? 1 : (arrived + relocatedBytes) / arrived;
    }
}
