package org.rowankv.sim.cluster;

import org.rowankv.check.history.CallerLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.SeedServices;

/** The activities in a simulated cluster beside the clients. */
final class ClusterServices extends SeedServices {
    private final ClusterStreams streams;

    /** @param log receives the changes of the subscriber */
    ClusterServices(ClusterSimulation simulation, RandomSource random, CallerLog log) {
        super(simulation);
        this.streams = new ClusterStreams(simulation, random.fork("routing"));
        addSubscriber(streams, random.fork("subscriber"), log);
    }

    @Override
    public void begin() {
        streams.begin();
        super.begin();
    }
}
