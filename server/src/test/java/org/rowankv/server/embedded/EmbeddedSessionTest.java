package org.rowankv.server.embedded;

import org.junit.jupiter.api.Tag;
import org.rowankv.driver.SessionContract;
import org.rowankv.driver.api.Session;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;

/** The session contract with three servers in this JVM and three replicas. */
@Tag("jvm")
class EmbeddedSessionTest extends SessionContract {
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedCluster cluster;

    @Override
    protected Session open(Clock storeClock) {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 3;
                }),
                storeClock,
                new SplittableRandomSource(5));
        return cluster.session();
    }

    @Override
    protected Clock clock() {
        return clock;
    }

    @Override
    protected void passMs(long ms) {
        clock.advanceMs(ms);
    }

    @Override
    protected void close(Session opened) {
        cluster.close();
    }
}
