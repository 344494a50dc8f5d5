package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.conformance.FenceConformance;
import org.rowankv.runtime.Chaos;

/** Fences of the TCP fabric, with the NIC agent stopped anywhere in a landing. */
final class TcpFenceTest extends FenceConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric();
    }

    /** Stops the NIC agent at a point, the first time it reaches it. */
    private static final class Held implements AutoCloseable {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        Held(String point) {
            Chaos.install(name -> {
                if (name.equals(point) && reached.getCount() > 0) {
                    reached.countDown();
                    await(released);
                }
            });
        }

        void awaitReached() {
            await(reached);
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            released.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp.arrived", "tcp.named", "tcp.mid-copy", "tcp.before-publish", "tcp.published"})
    void shouldReturnFromAFenceOnlyWhenNothingLandsAnyMore(String point) throws InterruptedException {
        final AtomicReference<Outcome> outcome = new AtomicReference<>();
        final AtomicReference<FenceReport> report = new AtomicReference<>();
        final Thread sending = new Thread(() -> outcome.set(send(stalledPair, 1)));
        final Thread fencing = new Thread(() -> report.set(receiver.queue().fence(2)));
        try (Held held = new Held(point)) {
            sending.start();
            held.awaitReached();
            final boolean inside = !point.equals("tcp.arrived");
            assertThat(receiver.queue().isNamed(0)).isEqualTo(inside);
            assertThat(receiver.queue().landedLimit(0)).isZero();
            fencing.start();
            if (inside) {
                while (fencing.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            } else {
                fencing.join();
            }
        }
        fencing.join();
        sending.join();
        assertThat(report.get().servers()).containsExactly(2);
        assertThat(report.get().voidedAddresses()).isEmpty();
        assertThat(outcome.get().landed()).isEqualTo(!point.equals("tcp.arrived"));
        assertThat(outcome.get().landed() || outcome.get().fenced()).isTrue();
        assertThat(landedIds()).hasSize(outcome.get().landed() ? 1 : 0);
        assertThat(receiver.queue().isNamed(0)).isFalse();
        assertThat(send(otherPair, 2).landed()).isTrue();
        assertThat(landedIds()).endsWith(2L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp.named", "tcp.mid-copy", "tcp.before-publish", "tcp.published"})
    void shouldLeaveNoHoleWhenALandingBreaksOffAt(String point) {
        Chaos.install(name -> {
            if (name.equals(point)) {
                Chaos.reset();
                throw new StackOverflowError("planted");
            }
        });
        assertThat(send(stalledPair, 1).landed()).isFalse();
        assertThat(landedIds()).isEmpty();
        assertThat(receiver.queue().isNamed(0)).isFalse();
        assertThat(send(otherPair, 2).landed()).isTrue();
        assertThat(landedIds()).containsExactly(2L);
    }

    @Test
    void shouldFindNoHoleToVoid() {
        send(otherPair, 1);
        final FenceReport report = receiver.queue().fenceHole(0, 64);
        assertThat(report.fencedPairs()).isZero();
        assertThat(report.voidedAddresses()).isEmpty();
        assertThat(send(otherPair, 2).landed()).isTrue();
    }
}
