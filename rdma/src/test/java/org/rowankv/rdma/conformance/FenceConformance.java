package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.runtime.Chaos;

/** What a fence must do on every fabric, wherever its senders are. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class FenceConformance {
    protected static final int SEGMENT = 4096;
    protected static final int TAG = 5;
    private static final int LENGTH = 200;

    protected Fabric fabric;
    protected TestServer receiver;
    protected TestServer stalledServer;
    protected TestServer otherServer;
    protected QueuePair stalledPair;
    protected QueuePair otherPair;

    protected abstract Fabric createFabric();

    @BeforeEach
    void openServers() {
        fabric = createFabric();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        stalledServer = TestServer.open(fabric, 2, 1, SEGMENT);
        otherServer = TestServer.open(fabric, 3, 1, SEGMENT);
        receiver.postAll();
        stalledPair = stalledServer.connectTo(receiver);
        otherPair = otherServer.connectTo(receiver);
    }

    @AfterEach
    void closeServers() {
        Chaos.reset();
        fabric.close();
    }

    /** The outcome of a send: the status of the post, and of the completion, or -1 if it was not posted. */
    protected record Outcome(int post, int completion) {
        public boolean landed() {
            return post == PostStatus.POSTED && completion == CompletionStatus.LANDED;
        }

        /** Refused because of a fence, now or when it reached the receiver. */
        public boolean fenced() {
            return post == PostStatus.FENCED || completion == CompletionStatus.FENCED;
        }
    }

    /** Sends and waits for the outcome. */
    protected static Outcome send(QueuePair pair, long id) {
        final int post = pair.send(id, new Entries().make(id, LENGTH), 0, LENGTH, TAG);
        final List<Integer> statuses = new ArrayList<>();
        while (post == PostStatus.POSTED && statuses.isEmpty()) {
            pair.poll((context, status) -> statuses.add(status), 10);
            Thread.onSpinWait();
        }
        assertThat(statuses).hasSize(post == PostStatus.POSTED ? 1 : 0);
        return new Outcome(post, statuses.isEmpty() ? -1 : statuses.get(0));
    }

    protected List<Long> landedIds() {
        return receiver.landed(TAG).stream().map(Landed::id).toList();
    }

    private static void awaitFenced(QueuePair pair) {
        await().atMost(30, TimeUnit.SECONDS)
                .pollInterval(1, TimeUnit.MILLISECONDS)
                .until(pair::isFenced);
    }

    @Test
    void shouldConnectAgainAfterAFenceWithANewPairOnly() {
        send(stalledPair, 1);
        receiver.queue().fence(2);
        awaitFenced(stalledPair);
        final QueuePair again = stalledServer.connectTo(receiver);
        assertThat(send(again, 2).landed()).isTrue();
        assertThat(stalledPair.isFenced()).isTrue();
        assertThat(send(stalledPair, 3).fenced()).isTrue();
        assertThat(landedIds()).containsExactly(1L, 2L);
    }

    @Test
    void shouldRefuseAFencedServerThatTheConfigurationExcludes() {
        receiver.view().exclude(2);
        receiver.queue().fence(2);
        assertThatThrownBy(() -> stalledServer.connectTo(receiver)).isInstanceOf(FabricException.class);
    }

    /** The view changes first, then the fence follows: what connects meanwhile is refused or fenced. */
    @Test
    void shouldLeaveNoPairOfAServerThatIsExcludedWhileItConnects() throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            final CountDownLatch checks = new CountDownLatch(1);
            receiver.view().onHandshake(() -> {
                checks.countDown();
                LockSupport.parkNanos(2_000_000); // time for the exclusion: a fence that does not wait misses the pair
            });
            final CompletableFuture<QueuePair> opening =
                    CompletableFuture.supplyAsync(() -> stalledServer.connectTo(receiver));
            checks.await();
            receiver.view().exclude(2);
            receiver.queue().fence(2);
            try {
                awaitFenced(opening.join());
            } catch (CompletionException e) {
                // UNKNOWN_PEER: what serves its queue pairs was admitted, and cut off within the handshake.
                assertThat(e.getCause())
                        .isInstanceOfSatisfying(
                                FabricException.class,
                                refusal -> assertThat(refusal.reason())
                                        .isIn(
                                                FabricException.Reason.NOT_ADMITTED,
                                                FabricException.Reason.UNKNOWN_PEER));
            }
            receiver.view().readmit(2);
        }
    }

    @Test
    void shouldFenceAllSenders() {
        final FenceReport report = receiver.queue().fenceAll();
        assertThat(report.servers()).containsExactlyInAnyOrder(2, 3);
        assertThat(report.fencedPairs()).isEqualTo(2);
        assertThat(send(stalledPair, 1).fenced()).isTrue();
        assertThat(send(otherPair, 1).fenced()).isTrue();
        assertThat(receiver.queue().fenceAll()).isEqualTo(new FenceReport(List.of(), 0, List.of(), 0));
        assertThat(receiver.queue().fence(99)).isEqualTo(new FenceReport(List.of(), 0, List.of(), 0));
    }

    @Test
    void shouldFenceAllSendersWhenAnEndpointCloses() {
        final QueuePair back = receiver.connectTo(otherServer);
        receiver.close();
        assertThat(send(otherPair, 1).fenced()).isTrue();
        awaitFenced(otherPair);
        assertThat(back.isFenced()).isTrue();
        assertThat(receiver.post(0)).isFalse();
    }

    @Test
    void shouldReportOfEverySendWhetherItLandedBeforeTheFence() throws InterruptedException {
        // A fence amid a stream of posts: nothing lands after the fence has returned.
        final TreeMap<Long, Integer> statuses = new TreeMap<>();
        final CountDownLatch streaming = new CountDownLatch(1);
        final Thread stream = new Thread(() -> {
            final Entries entries = new Entries();
            long id = 0;
            int post = PostStatus.POSTED;
            while (post != PostStatus.FENCED) {
                id++;
                post = stalledPair.send(id, entries.make(id, 64), 0, 64, TAG);
                if (post != PostStatus.POSTED) {
                    id--;
                }
                stalledPair.poll(statuses::put, Integer.MAX_VALUE);
                if (statuses.size() > 20) {
                    streaming.countDown();
                }
            }
            while (statuses.size() < id) {
                stalledPair.poll(statuses::put, Integer.MAX_VALUE);
            }
        });
        stream.start();
        streaming.await();
        receiver.queue().fence(2);
        final List<Long> atFence = landedIds();
        stream.join();
        final List<Long> landed = new ArrayList<>();
        statuses.forEach((id, status) -> {
            assertThat(status).isIn(CompletionStatus.LANDED, CompletionStatus.FENCED);
            if (status == CompletionStatus.LANDED) {
                landed.add(id);
            }
        });
        assertThat(atFence).isEqualTo(landed);
        assertThat(landedIds()).isEqualTo(landed);
    }
}
