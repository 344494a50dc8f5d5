package org.rowankv.check.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * A steady asynchronous load of every shard, by which outages are measured: per shard a writer and a reader, in two
 * clients. Its thread begins the next operation of each a few milliseconds after the last one.
 */
final class ShardLoad implements AutoCloseable {
    static final String CACHE = "chaos-shards";
    private static final long PACE_NS = TimeUnit.MILLISECONDS.toNanos(8);
    private static final long REST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final RowanClient writer;
    private final RowanClient reader;
    private final List<ShardLane> lanes = new ArrayList<>();
    private final Thread thread = new Thread(this::run, "chaos-shards");
    private volatile boolean over;

    ShardLoad(List<String> addresses, ChaosFindings findings) {
        this.writer = RowanClient.connect(addresses, NetSettings.DEFAULT.withSpinNs(0));
        this.reader = RowanClient.connect(addresses, NetSettings.DEFAULT.withSpinNs(0));
        final int cacheId = writer.catalogue().create(CACHE, new byte[0]).id();
        final Configuration configuration = writer.configuration();
        final KeyHash hash = new KeyHash(configuration.hashSeed());
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            lanes.add(new ShardLane(
                    shard,
                    cacheId,
                    writer,
                    reader,
                    (key, of) ->
                            ShardMap.shardOf(hash.hash(cacheId, key, 0, key.length), configuration.shardCount()) == of,
                    findings));
        }
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        while (!over) {
            lanes.forEach(ShardLane::step);
            LockSupport.parkNanos(this, PACE_NS);
        }
    }

    long operations() {
        return lanes.stream().mapToLong(ShardLane::operations).sum();
    }

    /** Forgets completions before now. */
    void beginMeasuring() {
        lanes.forEach(lane -> {
            lane.written().forget();
            lane.read().forget();
        });
    }

    /** By shard: the longest time without a completed operation of the writer, which also reads. */
    List<Long> gapsNs(long fromNs, long toNs) {
        return gaps(lane -> lane.written().longestGapNs(fromNs, toNs));
    }

    /** By shard: the longest time without a completed read of the reader. */
    List<Long> readGapsNs(long fromNs, long toNs) {
        return gaps(lane -> lane.read().longestGapNs(fromNs, toNs));
    }

    private List<Long> gaps(ToLongFunction<ShardLane> gap) {
        return lanes.stream().map(gap::applyAsLong).toList();
    }

    /** Ends the load, and reads every key once more. */
    void endAndCheck(ChaosFindings findings) {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        for (ShardLane lane : lanes) {
            while (!lane.isAtRest()) {
                if (SystemClock.INSTANCE.nanoTime() - fromNs > REST_TIMEOUT_NS) {
                    findings.add(ChaosFindings.Kind.UNEXPLAINED, "an asynchronous operation never completed");
                    return;
                }
                LockSupport.parkNanos(this, PACE_NS);
            }
        }
        lanes.forEach(ShardLane::checkAtRest);
    }

    @Override
    public void close() {
        over = true;
        try {
            writer.close();
        } finally {
            reader.close();
        }
    }
}
