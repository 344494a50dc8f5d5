package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPortSettings;

/** Callers that recurse until their stack is exhausted, and use a shared connection near its end. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class NetCallerStackTest {
    @Test
    void shouldAnswerTheOthersWhenAStackEnds() throws Exception {
        final PossibleValues values = new PossibleValues("s", 40, 300);
        final PossibleValues others = new PossibleValues("o", 40, 300);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                    with.shards = 4;
                    with.workers = 2;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                NetSession session = NetSession.connect(
                        ports.addresses(), NetSettings.DEFAULT.withConnections(1, 4), SystemClock.INSTANCE);
                RowanClient client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3))) {
            final int cache = Stores.cache(client);
            final Random random = new Random(1);
            // A class whose initialization meets the end of a stack is unusable in the whole JVM.
            for (int i = 0; i < 500; i++) {
                values.operate(client, cache, random);
            }
            final Random otherRandom = new Random(100);
            StackEnd.meet(
                    40,
                    () -> values.operate(client, cache, random),
                    random,
                    () -> others.operate(client, cache, otherRandom));
            values.requirePossible(client, cache);
            others.requirePossible(client, cache);
            assertThat(values.errors).isPositive();
            assertThat(values.done).isPositive();
            assertThat(others.errors).isZero();
            Stores.requireHealth(cluster);
        }
    }
}
