package org.rowankv.check.chaos;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.BulkResult;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSettings;

/**
 * A load of batches. It puts keys that are new, and later removes some: an acknowledged object must stay, and a removed one
 * must not return. Its thread writes; {@link #check} takes turns with it.
 */
final class BatchLoad implements AutoCloseable {
    private static final String CACHE = "chaos-batches";
    private static final int BATCH = 24;
    private static final long PACE_NS = TimeUnit.MILLISECONDS.toNanos(60);
    /** Above this number, the oldest objects are removed. */
    private static final int MOST = 40_000;
    /** Removed keys that are remembered. */
    private static final int MOST_REMOVED = 4_000;
    /** One batch in this many removes. */
    private static final int REMOVES = 4;

    private final RowanClient client;
    private final int cacheId;
    private final ChaosFindings findings;
    private final Thread thread = new Thread(this::run, "chaos-batches");
    private final Object turn = new Object();
    private final Deque<Long> present = new ArrayDeque<>();
    private final Deque<Long> removed = new ArrayDeque<>();
    private long next;
    private volatile long operations;
    private volatile boolean over;

    BatchLoad(List<String> addresses, ChaosFindings findings) {
        this.client = RowanClient.connect(addresses, NetSettings.DEFAULT.withSpinNs(0));
        this.cacheId = client.catalogue().create(CACHE, new byte[0]).id();
        this.findings = findings;
        thread.setDaemon(true);
        thread.start();
    }

    private static byte[] key(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** The value of a key: longer than its number, and determined by it. */
    private static byte[] value(long number) {
        final ByteBuffer value = ByteBuffer.allocate(Long.BYTES * (1 + (int) (number % 20)));
        while (value.hasRemaining()) {
            value.putLong(number);
        }
        return value.array();
    }

    private void run() {
        for (int batch = 0; !over; batch++) {
            synchronized (turn) {
                if (batch % REMOVES == REMOVES - 1 && present.size() > BATCH || present.size() > MOST) {
                    remove();
                } else {
                    put();
                }
            }
            LockSupport.parkNanos(this, PACE_NS);
        }
    }

    private void put() {
        final List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            numbers.add(next++);
        }
        final List<BulkResult> results = client.putAll(
                cacheId,
                numbers.stream().map(BatchLoad::key).toList(),
                numbers.stream().map(BatchLoad::value).toList());
        for (int i = 0; i < BATCH; i++) {
            if (isDone(results.get(i), "put of a batch")) {
                present.addLast(numbers.get(i));
            }
        }
    }

    /** Removes the oldest: the newest could be hidden by a write that is still on its way. */
    private void remove() {
        final List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < BATCH && !present.isEmpty(); i++) {
            numbers.add(present.removeFirst());
        }
        final List<BulkResult> results =
                client.removeAll(cacheId, numbers.stream().map(BatchLoad::key).toList());
        for (int i = 0; i < numbers.size(); i++) {
            final BulkResult result = results.get(i);
            if (isDone(result, "remove of a batch")) {
                if (result.result() != null && !result.result().applied()) {
                    findings.add(
                            ChaosFindings.Kind.LOST, "object " + numbers.get(i) + " of a batch, before its removal");
                }
                removed.addLast(numbers.get(i));
            }
        }
        while (removed.size() > MOST_REMOVED) {
            removed.removeFirst();
        }
    }

    private boolean isDone(BulkResult result, String what) {
        final RowanException failure = result.failure();
        if (failure != null) {
            findings.addFailure(what + ": " + failure.status());
            return false;
        }
        count(1);
        return true;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // in its turn
    private void count(int count) {
        operations += count;
    }

    long operations() {
        return operations;
    }

    /** Reads all objects that are there, and the keys that were removed. Any thread; batches wait meanwhile. */
    void check() {
        synchronized (turn) {
            check(new ArrayList<>(present), true);
            check(new ArrayList<>(removed), false);
        }
    }

    private void check(List<Long> numbers, boolean there) {
        for (int from = 0; from < numbers.size(); from += 1000) {
            final List<Long> part = numbers.subList(from, Math.min(numbers.size(), from + 1000));
            final List<VersionedValue> values;
            try {
                values =
                        client.getAll(cacheId, part.stream().map(BatchLoad::key).toList());
            } catch (RowanException e) {
                findings.addFailure("read of a batch: " + e.status());
                continue;
            }
            for (int i = 0; i < part.size(); i++) {
                final byte[] value = values.get(i).value();
                if (there && value == null) {
                    findings.add(ChaosFindings.Kind.LOST, "object " + part.get(i) + " of a batch");
                } else if (there && !java.util.Arrays.equals(value, value(part.get(i)))) {
                    findings.add(ChaosFindings.Kind.UNEXPLAINED, "object " + part.get(i) + " has another value");
                } else if (!there && value != null) {
                    findings.add(ChaosFindings.Kind.LOST, "the removal of object " + part.get(i) + " of a batch");
                }
            }
            count(part.size());
        }
    }

    /** Ends after the batch that is under way. */
    @Override
    public void close() {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }
}
