package org.rowankv.server.cluster;

import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.manager.Departures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server does before it stops: others take its roles over, so that nothing waits for it when it is gone. It serves
 * meanwhile, and manages the cluster if it is the manager. It stops as well if they cannot, or the time is over.
 *
 * <p>For the thread of the {@link ClusterServer}.
 */
final class Leaving {
    private static final Logger LOG = LoggerFactory.getLogger(Leaving.class);
    private static final long PAUSE_NS = 10_000_000;

    private final ClusterServer cluster;
    private final RoleTerm present;

    Leaving(ClusterServer cluster, RoleTerm present) {
        this.cluster = cluster;
        this.present = present;
    }

    /** Returns when this server has no roles any more, others cannot take them, or the time is over. */
    void run() {
        cluster.say("others take over its roles before it stops");
        while (!cluster.isLeaveOver()) {
            final Departures.Answer answer = step();
            if (answer != Departures.Answer.UNDER_WAY) {
                LOG.info(
                        "Leaving: server={} roles={}",
                        cluster.settings().name(),
                        answer == Departures.Answer.DONE ? "handed over" : "kept, since no others can take them");
                return;
            }
            cluster.context().scheduling().park(PAUSE_NS);
            cluster.requireNotStopped();
        }
        LOG.info(
                "Leaving: server={} roles=kept, since the drain time is over",
                cluster.settings().name());
    }

    private Departures.Answer step() {
        try {
            final Departures.Answer answer = present.leave();
            present.manage();
            return answer;
        } catch (ConfigurationStoreException e) {
            return Departures.Answer.REFUSED; // nothing changes without it
        } catch (ClusterServer.ClosedWhileWaiting e) {
            return Departures.Answer.UNDER_WAY; // the time is over
        }
    }
}
