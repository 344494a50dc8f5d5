package org.rowankv.server.resync;

import org.rowankv.runtime.concurrent.LatencyHistogram;

/** How long clients' writes took at this server, since its start. Any thread. */
@FunctionalInterface
public interface WriteTimes {
    /** Writes in that bucket of a {@link LatencyHistogram}, smaller ones excluded. */
    long count(int bucket);
}
