package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.stream.ShardChanges;

/** Workers that take versions and finish them in any order, and a reader that reads what is finished: real threads. */
final class ChangeHandOverTest {
    private static final int CACHE = 1;
    private static final int WORKERS = 4;
    private static final int EACH = 4_000;

    /** What a worker does, as a mutation does it; returns the version if it was handed over. */
    private static long commit(int slot, InFlight inFlight, VersionCounter versions, ShardChanges changes) {
        inFlight.announce(slot, 0, versions.lowerBound());
        final long version = versions.take();
        inFlight.exact(slot, version);
        if ((version & 3) == slot % 4) {
            Thread.yield(); // replication takes its time
        }
        final boolean wanted = changes.wanted(CACHE) != ShardChanges.UNWANTED;
        if (wanted) {
            changes.add(CACHE, new Change(version, ChangeType.REMOVED, new byte[] {1}, null, null));
        }
        inFlight.finished(slot);
        return version;
    }

    @Test
    void shouldFindEveryChangeThatIsFinishedInOrderFromTheSubscriptionOn() throws Exception {
        for (int round = 0; round < 20; round++) {
            final InFlight inFlight = new InFlight(WORKERS);
            final VersionCounter versions = new VersionCounter(1);
            final ShardChanges changes = new ShardChanges(WORKERS * EACH, 1 << 30);
            final TreeSet<Long> taken = new TreeSet<>();
            final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            final CyclicBarrier together = new CyclicBarrier(WORKERS + 1);
            final CountDownLatch over = new CountDownLatch(WORKERS);
            final List<Thread> threads = new ArrayList<>();
            for (int worker = 0; worker < WORKERS; worker++) {
                final int slot = worker;
                final Thread thread = new Thread(() -> {
                    final List<Long> own = new ArrayList<>();
                    try {
                        together.await();
                        for (int i = 0; i < EACH / 10; i++) {
                            own.add(commit(slot, inFlight, versions, changes));
                        }
                    } catch (Exception | Error e) {
                        failures.add(e);
                    } finally {
                        synchronized (taken) {
                            taken.addAll(own);
                        }
                        over.countDown();
                    }
                });
                threads.add(thread);
                thread.start();
            }
            together.await();
            // In the middle of it: from here on nothing is missed.
            final long begun = changes.want(CACHE, false, versions::last);
            final List<Long> heard = new ArrayList<>();
            long position = begun;
            boolean last;
            do {
                last = over.getCount() == 0; // looked at first: then one more reading finds the rest
                final ShardChanges.Reading reading =
                        changes.read(CACHE, position, inFlight.finished(0, versions.last()), Long.MAX_VALUE);
                assertThat(reading.lostTo()).isZero();
                reading.changes().forEach(change -> heard.add(change.version()));
                position = reading.to();
            } while (!last);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
            assertThat(heard).containsExactlyElementsOf(taken.tailSet(begun, false));
        }
    }
}
