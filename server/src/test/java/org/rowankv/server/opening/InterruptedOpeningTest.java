package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.delete;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.server.dispatch.PollableCall;

/** Server 0 of four ends in the middle of a mutation; others end, or messages are lost, while server 1 opens its shards. */
final class InterruptedOpeningTest {
    private static final int DEAD = 0;
    private static final int NEXT = 1;
    private static final int THIRD = 2;
    private static final int FOURTH = 3;
    private static final int SHARD = 0;
    private static final byte[] KEY = key(SHARD, 0);
    private static final byte[] OLD = bytes(100, 'o');
    /** Of three blocks. */
    private static final byte[] LONG = bytes(2_500, 'l');

    private final LiveCluster cluster = new LiveCluster(4);

    @BeforeEach
    void write() {
        cluster.ok(put(KEY, OLD));
        cluster.settle();
        cluster.releaseGrants();
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    /** So many blocks pass to each backup; then the primary ends. */
    private void endAfter(int toNext, int toThird, int toFourth) {
        cluster.fabric.gate(DEAD, NEXT).allowEntries(toNext);
        cluster.fabric.gate(DEAD, THIRD).allowEntries(toThird);
        cluster.fabric.gate(DEAD, FOURTH).allowEntries(toFourth);
        final PollableCall call = cluster.begin(put(KEY, LONG));
        for (int i = 0; i < 20; i++) {
            assertThat(call.step()).isFalse();
            cluster.run(DEAD);
        }
        cluster.stop(DEAD);
    }

    private void requireOpen(byte[] value, int epoch) {
        cluster.stepUntil(cluster::isAllOpen);
        cluster.requireAgreement();
        assertThat(cluster.value(KEY)).isEqualTo(value);
        assertThat(Version.epoch(cluster.ok(put(KEY, OLD)).version())).isEqualTo(epoch);
        cluster.requireExactSpace();
        cluster.requireAgreement();
    }

    /** What the new primary had sent to a part of the others before it ended, the next one completes. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldCompleteWhatAnotherOpeningHasBegun(int blocksSent) {
        endAfter(3, 0, 0);
        cluster.fabric.gate(NEXT, THIRD).allowEntries(blocksSent);
        cluster.fabric.gate(NEXT, FOURTH).allowEntries(0);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        cluster.step(100);
        assertThat(cluster.isOpen(SHARD)).isFalse();

        cluster.stop(NEXT);
        cluster.adopt(cluster.excluding(FOURTH, NEXT, DEAD));
        requireOpen(blocksSent == 3 ? LONG : OLD, 3);
    }

    /** One of those that it waits for ends: the opening of the next configuration goes on without it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void shouldOpenWithoutAReplicaThatEndsMeanwhile(int blocksSent) {
        endAfter(0, 3, 0);
        cluster.fabric.gate(NEXT, FOURTH).allowEntries(blocksSent == 3 ? 2 : blocksSent);
        if (blocksSent == 0) {
            cluster.stop(FOURTH); // it never answers
        }
        cluster.alive().forEach(server -> cluster.prepare(server, cluster.configuration()));
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        cluster.step(100);
        assertThat(cluster.isOpen(SHARD)).isFalse();

        cluster.stop(FOURTH);
        cluster.adopt(cluster.excluding(NEXT, FOURTH, DEAD));
        requireOpen(LONG, 3);
    }

    /** The third server prepares the second exclusion before the first has opened. */
    @Test
    void shouldOpenWhenALaterConfigurationIsPreparedMeanwhile() {
        endAfter(0, 0, 3);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        cluster.step(1);
        final var later = cluster.excluding(NEXT, THIRD, DEAD);
        cluster.stop(THIRD);
        cluster.prepare(FOURTH, later);
        cluster.step(100);
        cluster.prepare(NEXT, later);
        cluster.step(100);
        cluster.commit(FOURTH, later);
        cluster.commit(NEXT, later);
        requireOpen(LONG, 3);
    }

    @Test
    void shouldOpenOnceHoweverOftenItIsRequested() {
        endAfter(0, 3, 0);
        final var next = cluster.excluding(NEXT, DEAD);
        for (int i = 0; i < 40; i++) {
            cluster.alive().forEach(server -> {
                cluster.prepare(server, next);
                cluster.commit(server, next);
            });
            if (next.shard(SHARD).primary() == NEXT) {
                cluster.servers.get(NEXT).roleChanges().openings().open(next, SHARD);
            }
            cluster.step();
        }
        cluster.stepUntil(cluster::isAllOpen);
        cluster.servers.get(NEXT).roleChanges().openings().open(next, SHARD);
        cluster.step(10);
        assertThat(cluster.opened).doesNotHaveDuplicates();
        requireOpen(LONG, 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldOpenAlthoughMessagesAreLostAndRepeated(int seed) {
        endAfter(0, 3, 0);
        final Random random = new Random(seed);
        cluster.network(delivery -> {
            if (random.nextInt(3) == 0) {
                cluster.servers
                        .get(delivery.to())
                        .roleChanges()
                        .openings()
                        .received(delivery.from(), delivery.message());
            }
            return random.nextInt(3) == 0 ? null : delivery;
        });
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        requireOpen(LONG, 2);
    }

    /** Links break while the new primary sends: what landed already lands again. */
    @Test
    void shouldTakeSpaceOnceForWhatLandsTwice() {
        endAfter(3, 0, 0);
        cluster.fabric.gate(NEXT, THIRD).allowEntries(2);
        cluster.fabric.gate(NEXT, FOURTH).allowEntries(2);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        cluster.step(20);
        cluster.servers.get(THIRD).fence(NEXT);
        cluster.servers.get(FOURTH).fence(NEXT);
        cluster.fabric.gate(NEXT, THIRD).allowEntries(Integer.MAX_VALUE);
        cluster.fabric.gate(NEXT, FOURTH).allowEntries(Integer.MAX_VALUE);
        requireOpen(LONG, 2);
    }

    /** Nothing of the shard is served before; everything else is. */
    @Test
    void shouldServeOtherShardsWhileOneWaits() {
        endAfter(0, 3, 0);
        cluster.network(delivery -> null);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        for (int i = 0; i < 50; i++) {
            for (int shard = 0; shard < LiveCluster.SHARDS; shard++) {
                final byte[] key = key(shard, i % 5);
                final Request request = i % 4 == 3 ? delete(key) : put(key, bytes(10 * i, i));
                if (cluster.isOpen(shard)) {
                    assertThat(cluster.call(request).status()).isIn(Status.OK, Status.NOT_FOUND);
                }
            }
        }
        assertThat(cluster.isOpen(SHARD)).isFalse();
        assertThat(cluster.opened).isEmpty();
        cluster.network(delivery -> delivery);
        requireOpen(LONG, 2);
    }
}
