package org.rowankv.check.chaos;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Change;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * A writer, and a subscriber in another client that counts every change. Its thread writes; {@link #settle} takes turns
 * with it.
 */
final class EventLoad implements AutoCloseable {
    private static final String CACHE = "chaos-events";
    /** Far more than shards: each of them has some. */
    private static final int KEYS = 96;

    private static final long PACE_NS = TimeUnit.MILLISECONDS.toNanos(4);
    private static final long DELIVERY_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final RowanClient writer;
    private final RowanClient subscriber;
    private final ChangeSubscription subscription;
    private final EventLedger ledger;
    private final ChaosFindings findings;
    private final int cacheId;
    private final KeyHash keyHash;
    private final int shards;
    private final Thread thread = new Thread(this::run, "chaos-events");
    private final Object turn = new Object();
    private volatile boolean over;

    EventLoad(List<String> addresses, ChaosFindings findings) {
        this.findings = findings;
        this.ledger = new EventLedger(findings);
        this.writer = RowanClient.connect(addresses, NetSettings.DEFAULT.withSpinNs(0));
        this.subscriber = RowanClient.connect(addresses, NetSettings.DEFAULT.withSpinNs(0));
        this.cacheId = writer.catalogue().create(CACHE, new byte[0]).id();
        this.keyHash = new KeyHash(writer.configuration().hashSeed());
        this.shards = writer.configuration().shardCount();
        this.subscription = subscriber.subscribe(cacheId, false, null, new ChangeListener() {
            @Override
            public void onChange(int shard, Change change) {
                ledger.received(shard, change.version(), numberIn(change.value()));
            }

            @Override
            public void onEventsLost(int shard, long after, long upTo) {
                ledger.lost(shard, after, upTo);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static long numberIn(byte @Nullable [] value) {
        return value == null || value.length != Long.BYTES
                ? 0
                : ByteBuffer.wrap(value).getLong();
    }

    private void run() {
        try {
            for (int i = 0; !over; i++) {
                synchronized (turn) {
                    write(i % KEYS);
                }
                LockSupport.parkNanos(this, PACE_NS);
            }
        } catch (RuntimeException e) {
            findings.add(ChaosFindings.Kind.APP_EXCEPTIONS, "the writer whose changes are awaited ended: " + e);
        }
    }

    /** Returns whether it succeeded. */
    private boolean write(int keyNumber) {
        final byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(keyNumber).array();
        final long number = ledger.issue();
        try {
            final long version = writer.put(
                            cacheId,
                            key,
                            ByteBuffer.allocate(Long.BYTES).putLong(number).array())
                    .version();
            ledger.acknowledged(number, ShardMap.shardOf(keyHash.hash(cacheId, key, 0, key.length), shards), version);
            return true;
        } catch (RowanException e) {
            findings.addFailure("write whose change is awaited: " + e.status());
            return false;
        }
    }

    /**
     * Writes each key once more, and waits for all changes: what was lost before is known then. Where a write does not
     * succeed in time, nothing is said of the changes. Any thread; other writes wait meanwhile.
     */
    void settle() {
        synchronized (turn) {
            final long fromNs = SystemClock.INSTANCE.nanoTime();
            for (int key = 0; key < KEYS; key++) {
                while (!write(key)) {
                    if (SystemClock.INSTANCE.nanoTime() - fromNs > DELIVERY_TIMEOUT_NS) {
                        return;
                    }
                }
            }
            final long writtenNs = SystemClock.INSTANCE.nanoTime();
            while (!ledger.isComplete() && SystemClock.INSTANCE.nanoTime() - writtenNs < DELIVERY_TIMEOUT_NS) {
                LockSupport.parkNanos(this, PACE_NS);
            }
            ledger.requireComplete();
        }
    }

    /** Received changes. */
    long delivered() {
        return ledger.delivered();
    }

    /** Reported losses, each of one shard. */
    long timesLost() {
        return ledger.timesLost();
    }

    /** Ends after the write that is under way. */
    @Override
    public void close() {
        over = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        try (writer;
                subscriber) {
            subscription.close();
        }
    }
}
