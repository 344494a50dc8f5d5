package org.rowankv.bench.store;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;

/** A store of one server whose objects one thread overwrites. Confined to that thread. */
final class OverwrittenStore implements AutoCloseable {
    /** Log bytes of an object with a 20-byte key and a 100-byte value. */
    static final int ENTRY_LENGTH = 192;

    /** Small, so that segments which never hold live data are a small part of a small store. */
    static final int SEGMENT_LENGTH = 1 << 20;

    private static final int SAMPLE_EVERY = 1 << 15;
    private static final long AGENT_PAUSE_NS = 20_000_000;

    private final EmbeddedCluster cluster;
    private final RowanClient client;
    private final int cacheId;
    private final byte[][] keys;
    private final Request request = new Request();
    private final byte[] value = new byte[KeySpace.VALUE_LENGTH];
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    /**
     * Result of a series of overwrites.
     *
     * @param copied bytes copied per byte written
     * @param agents CPU time of the server's agents divided by elapsed time
     * @param alpha live bytes divided by the bytes of the segments in use, on average
     */
    public record Run(double perSecond, double copied, double agents, double alpha, long cleaned) {}

    /** @param fillPercent share of the unreserved segments that live entries may take */
    OverwrittenStore(long capacityBytes, byte[][] keys, int fillPercent) {
        this.keys = keys;
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.capacityBytes = capacityBytes;
            with.segmentBytes = SEGMENT_LENGTH;
        });
        final EmbeddedContext machine = EmbeddedContext.machine();
        this.cluster = EmbeddedCluster.open(settings, machine.withTuning(with -> with.fillPercent = fillPercent));
        this.client = new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(1));
        this.cacheId = client.catalogue().create("bench", new byte[0]).id();
    }

    void load() {
        for (int i = 0; i < keys.length; i++) {
            put(i);
        }
    }

    /** Removes everything and waits until the cleaner has freed all of it. */
    void empty() {
        client.clear(cacheId);
        final int enough = (int)
                (cluster.settings().capacityBytes() / cluster.settings().shape().segmentBytes() * 9 / 10);
        while (statistics().segments().free() < enough) {
            // The cleaner checks again when a segment is opened.
            for (int i = 0; i < SEGMENT_LENGTH / ENTRY_LENGTH; i++) {
                put(0);
            }
            // No writes while it frees: otherwise segments might open as fast as they are freed, for ever.
            int before;
            do {
                before = statistics().segments().free();
                LockSupport.parkNanos(AGENT_PAUSE_NS);
            } while (statistics().segments().free() > before);
        }
        cluster.awaitDigested();
    }

    private void put(int key) {
        final byte[] bytes = keys[key];
        value[7]++;
        client.execute(request.put(cacheId, bytes, 0, bytes.length, value, 0, value.length));
        if (request.status() != Status.OK) {
            throw new IllegalStateException("a put was answered " + request.status());
        }
    }

    /** Performs this many overwrites at full speed. */
    Run overwrite(KeyDraws draws, long count) {
        final ServerStatistics before = statistics();
        final long cpuBefore = agentsCpuNs();
        final long startNs = System.nanoTime();
        long notFree = 0;
        long samples = 0;
        for (long i = 0; i < count; i++) {
            put(draws.next());
            if (i % SAMPLE_EVERY == 0) {
                final ServerStatistics now = statistics();
                notFree += now.segments().total() - now.segments().free();
                samples++;
            }
        }
        final double seconds = (System.nanoTime() - startNs) / 1e9;
        final double agents = (agentsCpuNs() - cpuBefore) / 1e9 / seconds;
        final ServerStatistics after = statistics();
        final long written = after.tLogBytes() - before.tLogBytes();
        return new Run(
                count / seconds,
                (double) (after.relocatedBytes() - before.relocatedBytes()) / written,
                agents,
                (double) keys.length * ENTRY_LENGTH / ((double) notFree / samples * after.segmentLength()),
                after.cleanedSegments() - before.cleanedSegments());
    }

    /**
     * Overwrites at a fixed rate, whether the store keeps up or not; each latency counts from the due time.
     *
     * @param latencies receives nanoseconds
     */
    void overwriteAt(double perSecond, KeyDraws draws, long count, Histogram latencies) {
        final double gapNs = 1e9 / perSecond;
        final long startNs = System.nanoTime();
        for (long i = 0; i < count; i++) {
            final long dueNs = startNs + (long) (i * gapNs);
            long nowNs = System.nanoTime();
            while (nowNs - dueNs < 0) {
                Thread.onSpinWait();
                nowNs = System.nanoTime();
            }
            put(draws.next());
            latencies.recordValue(Math.max(0, System.nanoTime() - dueNs));
        }
    }

    ServerStatistics statistics() {
        return cluster.statistics().get(0);
    }

    private long agentsCpuNs() {
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            final ThreadInfo info = threads.getThreadInfo(id);
            if (info != null && info.getThreadName().startsWith("rowan-server-")) {
                sum += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return sum;
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
