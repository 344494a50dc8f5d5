package org.rowankv.bench.paper.model;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.memory.PersistentMemory;

/**
 * Figures 2 and 8: streams of remote writes into one server, each write sent when the one before is persistent, beside
 * cores that write their own memory.
 */
public final class StreamModel {
    /** Sequential writes to a log of each stream, or to one log that the receiver fills. */
    public enum Placement {
        WRITE,
        ROWAN
    }

    /** Figures of one run, after its warm-up. */
    public record Result(
            double amplification, double mediaGbps, double requestGbps, double localGbps, double millionsPerSecond) {}

    private static final long WARM_UP_NS = 400_000;
    private static final int LOCAL_LENGTH = 128;
    private static final long LOG_LENGTH = 4L << 20;
    private static final int PHASES = 48;

    private final EventQueue queue = new EventQueue();
    private final PersistentMemory memory;
    private final NetworkCard card;
    private final Placement placement;
    private final int length;
    private final EntityRandom random;
    private long remoteWrites;
    private long localWrites;

    private StreamModel(Placement placement, int length, MemorySettings settings, long seed) {
        this.placement = placement;
        this.length = length;
        random = new EntityRandom(seed);
        memory = new PersistentMemory(settings);
        card = new NetworkCard(queue, memory, 0);
    }

    /**
     * Runs it.
     *
     * @param streams remote streams
     * @param length bytes of each remote write
     * @param local cores that write 128 bytes at a time
     * @param durationNs simulated time after the warm-up
     */
    public static Result run(
            Placement placement,
            int streams,
            int length,
            int local,
            MemorySettings settings,
            long durationNs,
            long seed) {
        final StreamModel model = new StreamModel(placement, length, settings, seed);
        final List<ModelEvent> begins = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            begins.add(model.new Remote(model.nextLog(i)));
        }
        for (int i = 0; i < local; i++) {
            begins.add(model.new Local(model.nextLog(streams + i)));
        }
        for (ModelEvent begin : begins) {
            model.queue.at(model.random.below(3_000), begin);
        }
        return model.measure(durationNs);
    }

    private long nextLog(int number) {
        return (number + 1) * LOG_LENGTH + (long) PersistentMemory.LINE_LENGTH * random.below(PHASES);
    }

    private Result measure(long durationNs) {
        queue.runUntil(WARM_UP_NS);
        memory.resetCounts();
        remoteWrites = 0;
        localWrites = 0;
        queue.runUntil(WARM_UP_NS + durationNs);
        return new Result(
                memory.writeAmplification(),
                (double) memory.mediaBytes() / durationNs,
                (double) memory.requestBytes() / durationNs,
                (double) localWrites * LOCAL_LENGTH / durationNs,
                remoteWrites * 1e3 / durationNs);
    }

    private final class Remote implements ModelEvent {
        private final EntityRandom own = random.split();
        private long address;

        Remote(long address) {
            this.address = address;
        }

        /** Posts the next write, as the one before is persistent. */
        @Override
        public void happen(long nowNs) {
            final long place = placement == Placement.ROWAN ? NetworkCard.RECEIVER_PLACES : address;
            address += length;
            queue.at(
                    nowNs + own.oneWayNs(),
                    arrivedNs -> card.arrive(
                            arrivedNs,
                            place,
                            length,
                            persistedNs -> queue.at(persistedNs + own.oneWayNs(), this::acknowledged)));
        }

        private void acknowledged(long nowNs) {
            remoteWrites++;
            happen(nowNs);
        }
    }

    private final class Local implements ModelEvent {
        private final EntityRandom own = random.split();
        private long address;

        Local(long address) {
            this.address = address;
        }

        @Override
        public void happen(long nowNs) {
            final long acceptedNs = memory.request(address, LOCAL_LENGTH, nowNs);
            address += LOCAL_LENGTH;
            localWrites++;
            final long jitter = Costs.LOCAL_WRITE * Costs.STREAM_JITTER_PERCENT / 100;
            queue.at(acceptedNs + Costs.LOCAL_WRITE - jitter + own.exponential(jitter), this);
        }
    }
}
