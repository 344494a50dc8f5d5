package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;

/** Events in the middle of a transfer between servers of one process. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class TransferMomentsTest {
    /** The end of a caller's thread. */
    private static final class Death extends Error {
        private static final long serialVersionUID = 1L;
    }

    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void leave() {
        released.countDown();
        Chaos.reset();
    }

    private static EmbeddedCluster open() {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 2;
            with.replicas = 2;
            with.shards = 2;
            with.workers = 2;
            with.capacityBytes = 8 << 20;
            with.maxMessage = 4096;
        }));
    }

    /** No other caller goes on with it: the agents do. */
    @Test
    void shouldCompleteWhatADeadCallerHasBegun() {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("old"));
            final Thread caller = Thread.currentThread();
            Chaos.install(name -> {
                if (name.equals("request.version-taken") && Thread.currentThread() == caller) {
                    throw new Death();
                }
            });
            assertThatThrownBy(() -> client.put(cache, bytes("k"), bytes("new")))
                    .isInstanceOf(Death.class);
            Chaos.reset();
            final Transfer moving = cluster.transfer(0, 1);
            final Transfer crossing = cluster.transfer(1, 0);
            await().until(() -> moving.isOver() && crossing.isOver());
            assertThat(cluster.configuration().shard(0).primary()).isOne();
            assertThat(cluster.configuration().shard(1).primary()).isZero();
            assertThat(client.get(cache, bytes("k"))).isIn(bytes("old"), bytes("new"));
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldNotMoveAPrimaryWhileTheReplicasAreCompared() throws Exception {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("v"));
            final CountDownLatch held = new CountDownLatch(1);
            Chaos.install(name -> {
                if (name.equals("commit.counted")) {
                    held.countDown();
                    try {
                        assertThat(released.await(30, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            });
            client.put(cache, bytes("k"), bytes("w")); // the comparison waits until this is committed
            assertThat(held.await(30, TimeUnit.SECONDS)).isTrue();
            final AtomicBoolean agree = new AtomicBoolean();
            final Thread comparing =
                    new Thread(() -> agree.set(cluster.verifyReplicas().agrees()));
            comparing.start();
            await().until(() -> comparing.getState() == Thread.State.WAITING);
            final Transfer moving = cluster.transfer(0, 1);
            for (int cycle = 0; cycle < 2; cycle++) { // of the manager
                final int epoch = cluster.configuration().shard(1).epoch();
                assertThat(cluster.manager().renew(1, List.of(1))).isNull();
                await().until(() -> cluster.configuration().shard(1).epoch() == epoch + 1);
            }
            assertThat(cluster.configuration().shard(0).primary()).isZero();
            released.countDown();
            comparing.join(30_000);
            assertThat(agree).isTrue();
            await().until(moving::isOver);
            assertThat(cluster.configuration().shard(0).primary()).isOne();
        }
    }

    /** The second may be in force before the first is seen to be over. */
    @Test
    void shouldEndEachOfTwoTransfersOfAShard() {
        try (EmbeddedCluster cluster = open()) {
            final Transfer there = cluster.transfer(0, 1);
            final Transfer back = cluster.transfer(0, 0);
            await().until(() -> there.isOver() && back.isOver());
        }
    }
}
