package org.rowankv.bench.net;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Result of some callers over client ports for a period.
 *
 * @param clientCpuUs CPU time of the client's process per operation
 * @param serverCpuUs CPU time of the servers' processes per operation
 */
record NetCell(double opsPerSecond, double p50Us, double p99Us, double p999Us, double clientCpuUs, double serverCpuUs) {
    private static final long HIGHEST_NS = 10_000_000_000L;

    /**
     * @param isVirtual whether the callers are virtual threads
     * @param putsPer100 puts per hundred operations; the others are gets
     */
    static NetCell measure(
            NetTarget target, int callerCount, boolean isVirtual, int putsPer100, byte[][] keys, double seconds)
            throws InterruptedException {
        final List<Caller> callers = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final long cpuBeforeNs = target.cpu().toNanos();
        final long ownBeforeNs = ownCpuNs();
        final long beginNs = System.nanoTime();
        final long endNs = beginNs + (long) (seconds * 1e9);
        for (int i = 0; i < callerCount; i++) {
            final Caller caller = new Caller(target, keys, putsPer100, i, endNs, failure);
            callers.add(caller);
            threads.add(isVirtual ? CallerThreads.startVirtual(caller) : CallerThreads.start("caller-" + i, caller));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        final Histogram all = new Histogram(HIGHEST_NS, 2);
        for (Caller caller : callers) {
            all.add(caller.latencies);
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a caller failed", failure.get());
        }
        final double operations = Math.max(1, all.getTotalCount());
        return new NetCell(
                operations / ((System.nanoTime() - beginNs) / 1e9),
                all.getValueAtPercentile(50) / 1e3,
                all.getValueAtPercentile(99) / 1e3,
                all.getValueAtPercentile(99.9) / 1e3,
                (ownCpuNs() - ownBeforeNs) / 1e3 / operations,
                (target.cpu().toNanos() - cpuBeforeNs) / 1e3 / operations);
    }

    private static long ownCpuNs() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(java.time.Duration::toNanos)
                .orElse(0L);
    }

    /** Returns the median by operations per second. */
    static NetCell median(List<NetCell> cells) {
        final List<NetCell> sorted = new ArrayList<>(cells);
        sorted.sort(Comparator.comparingDouble(NetCell::opsPerSecond));
        return sorted.get(sorted.size() / 2);
    }

    private static final class Caller implements Runnable {
        private final Histogram latencies = new Histogram(HIGHEST_NS, 2);
        private final NetTarget target;
        private final byte[][] keys;
        private final int putsPer100;
        private final long endNs;
        private final AtomicReference<Throwable> failure;
        private long state;

        Caller(
                NetTarget target,
                byte[][] keys,
                int putsPer100,
                int number,
                long endNs,
                AtomicReference<Throwable> failure) {
            this.target = target;
            this.keys = keys;
            this.putsPer100 = putsPer100;
            this.endNs = endNs;
            this.failure = failure;
            this.state = 0x2545F4914F6CDD1DL * (number + 1);
        }

        private int next(int bound) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) ((state >>> 33) * bound >>> 31);
        }

        @Override
        public void run() {
            final RowanClient client = target.client();
            final Request request = new Request();
            final byte[] value = new byte[KeySpace.VALUE_LENGTH];
            try {
                long nowNs = System.nanoTime();
                while (nowNs - endNs < 0) {
                    final byte[] key = keys[next(keys.length)];
                    if (next(100) < putsPer100) {
                        request.put(target.cacheId(), key, 0, key.length, value, 0, value.length);
                    } else {
                        request.get(target.cacheId(), key, 0, key.length);
                    }
                    client.execute(request);
                    if (request.status() != Status.OK) {
                        throw new IllegalStateException(request.operation() + " answered " + request.status());
                    }
                    final long afterNs = System.nanoTime();
                    latencies.recordValue(Math.min(HIGHEST_NS, afterNs - nowNs));
                    nowNs = afterNs;
                }
            } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            }
        }
    }
}
