package org.rowankv.check.handover;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Three server processes with two replicas, whose shards are handed over one after the other, while a thread puts and
 * another one gets an object of the shard: the longest time between two answers. Each hand-over is followed by a control
 * of the same length in which nothing happens. For one thread.
 */
public final class HandOverRun {
    private static final int SERVERS = 3;
    private static final int REPLICAS = 2;
    private static final int SHARDS = 12;
    private static final int SAY_EVERY = 50;
    private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final int warmUpRounds;
    private final int rounds;
    private final Launch launch;
    private final RandomSource random;
    private final PrintStream out;

    /**
     * @param warmUpRounds hand-overs before, which are not counted
     * @param rounds hand-overs, and as many controls
     */
    public HandOverRun(int warmUpRounds, int rounds, Launch launch, RandomSource random, PrintStream out) {
        this.warmUpRounds = warmUpRounds;
        this.rounds = rounds;
        this.launch = launch.withServerOptions("--shards=" + SHARDS);
        this.random = random;
        this.out = out;
    }

    /**
     * Runs it.
     *
     * @throws IOException if the cluster cannot be observed
     */
    public HandOverReport run() throws IOException {
        out.println("starting a ZooKeeper and " + SERVERS + " servers, two replicas of each object");
        try (TemporaryCluster cluster = TemporaryCluster.start("handover", SERVERS, REPLICAS, "64m", launch);
                ClusterWatch watch = new ClusterWatch(cluster.cluster());
                RowanClient client = RowanClient.connect(cluster.addresses(), NetSettings.DEFAULT.withSpinNs(0))) {
            final int cacheId =
                    client.catalogue().create("handed-over", new byte[0]).id();
            final List<byte[]> keys = keys(client.configuration(), cacheId);
            for (byte[] key : keys) {
                client.put(cacheId, key, new byte[Long.BYTES]);
            }
            try (ShardCaller puts = new ShardCaller(client, cacheId, keys.get(0), true);
                    ShardCaller gets = new ShardCaller(client, cacheId, keys.get(0), false)) {
                if (warmUpRounds > 0) {
                    out.println(warmUpRounds + " hand-overs to warm up");
                    final HandOverReport unused = measure(warmUpRounds, watch, keys, puts, gets);
                }
                return measure(rounds, watch, keys, puts, gets);
            }
        }
    }

    /** One of each shard. */
    private static List<byte[]> keys(Configuration configuration, int cacheId) {
        final KeyHash hash = new KeyHash(configuration.hashSeed());
        final List<byte[]> keys = new ArrayList<>();
        for (int number = 0; keys.size() < configuration.shardCount(); number++) {
            final byte[] key = ("key " + number).getBytes(StandardCharsets.US_ASCII);
            if (ShardMap.shardOf(hash.hash(cacheId, key, 0, key.length), configuration.shardCount()) == keys.size()) {
                keys.add(key);
            }
        }
        return keys;
    }

    private HandOverReport measure(int count, ClusterWatch watch, List<byte[]> keys, ShardCaller puts, ShardCaller gets)
            throws IOException {
        final HandOverReport report = new HandOverReport();
        for (int round = 1; round <= count; round++) {
            final int shard = random.nextInt(keys.size());
            puts.use(keys.get(shard));
            gets.use(keys.get(shard));
            begin(puts, gets);
            final long fromNs = SystemClock.INSTANCE.nanoTime();
            final boolean isDone = watch.transfer(shard);
            final long tookNs = SystemClock.INSTANCE.nanoTime() - fromNs;
            pause(SETTLE_NS);
            if (isDone) {
                report.handedOver(puts.takeLongestNs(), gets.takeLongestNs(), tookNs);
                begin(puts, gets);
                pause(tookNs + SETTLE_NS);
                report.control(puts.takeLongestNs(), gets.takeLongestNs());
            }
            if (round % SAY_EVERY == 0) {
                out.printf(Locale.ROOT, "%d of %d%n", round, count);
            }
        }
        report.failures(puts.failures() + gets.failures());
        return report;
    }

    private void begin(ShardCaller puts, ShardCaller gets) {
        pause(SETTLE_NS);
        final long unused = puts.takeLongestNs() + gets.takeLongestNs();
    }

    private void pause(long ns) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + ns;
        for (long leftNs = ns; leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
