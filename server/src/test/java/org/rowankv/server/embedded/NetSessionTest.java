package org.rowankv.server.embedded;

import org.junit.jupiter.api.Tag;
import org.rowankv.driver.SessionContract;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPortSettings;

/** The session contract with three servers and three replicas, over client ports. */
@Tag("jvm")
class NetSessionTest extends SessionContract {
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;

    @Override
    protected Session open(Clock storeClock) {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 3;
                }),
                storeClock,
                new SplittableRandomSource(5));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
        return NetSession.connect(ports.addresses(), NetSettings.DEFAULT, SystemClock.INSTANCE);
    }

    @Override
    protected Clock clock() {
        return clock;
    }

    @Override
    protected Clock sessionClock() {
        return SystemClock.INSTANCE;
    }

    @Override
    protected void passMs(long ms) {
        clock.advanceMs(ms);
    }

    @Override
    protected void close(Session opened) {
        opened.close();
        ports.close();
        cluster.close();
    }
}
