package org.rowankv.bench.paper.model;

import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.memory.PersistentMemory;

/**
 * Those hints of the ATC'21 study of RDMA and persistent memory that a model of memory and network card can express.
 * What is about processors and sockets is not here.
 */
public final class HintModel {
    /** The study's servers. */
    private static final int DIMMS = 6;

    private static final int STREAMS = 300;
    private static final int LOCKING_STREAMS = 96;
    private static final long AREA_SECTORS = 1L << 24;
    private static final long LOG_LENGTH = 4L << 20;
    private static final long WARM_UP_NS = 200_000;
    private static final int ENTRY = 128;
    private static final int LOCK = 8;
    private static final long SAMPLES_NS = 10_000_000;

    private final EventQueue queue = new EventQueue();
    private final EntityRandom random;
    private final PersistentMemory memory;
    private final NetworkCard card;
    private long done;

    private HintModel(MemorySettings settings, long seed) {
        random = new EntityRandom(seed);
        memory = new PersistentMemory(settings);
        card = new NetworkCard(queue, memory, 0);
    }

    /** H5 and H6: million writes per second to random lines, by bytes of each write. */
    public static double randomWrites(int length, long durationNs, long seed) {
        final HintModel model = new HintModel(MemorySettings.OF_THE_PAPER.withDimms(DIMMS), seed);
        for (int i = 0; i < STREAMS; i++) {
            final EntityRandom own = model.random.split();
            model.queue.at(own.below(3_000), nowNs -> model.writeAnywhere(nowNs, own, length));
        }
        return model.rate(durationNs);
    }

    private void writeAnywhere(long nowNs, EntityRandom own, int length) {
        final long line = own.below((int) (AREA_SECTORS / 4));
        queue.at(
                nowNs + own.oneWayNs(),
                arrivedNs -> card.arrive(
                        arrivedNs,
                        line * PersistentMemory.LINE_LENGTH,
                        length,
                        persistedNs -> queue.at(persistedNs + own.oneWayNs(), ackedNs -> {
                            done++;
                            writeAnywhere(ackedNs, own, length);
                        })));
    }

    /** H8: million entries per second, each between taking and giving back a lock in DRAM or in persistent memory. */
    public static double lockedWrites(boolean inPersistentMemory, long durationNs, long seed) {
        final HintModel model = new HintModel(MemorySettings.OF_THE_PAPER, seed);
        for (int i = 0; i < LOCKING_STREAMS; i++) {
            final Locking stream = model.new Locking((i + 1) * LOG_LENGTH, inPersistentMemory);
            model.queue.at(model.random.below(3_000), stream);
        }
        return model.rate(durationNs);
    }

    private final class Locking implements ModelEvent {
        private final EntityRandom own = random.split();
        private final boolean inPersistentMemory;
        private long address;

        Locking(long address, boolean inPersistentMemory) {
            this.address = address;
            this.inPersistentMemory = inPersistentMemory;
        }

        @Override
        public void happen(long nowNs) {
            swap(nowNs, lockedNs -> queue.at(lockedNs + own.oneWayNs(), this::write));
        }

        private void write(long arrivedNs) {
            address += ENTRY;
            card.arrive(
                    arrivedNs,
                    address,
                    ENTRY,
                    persistedNs -> queue.at(
                            persistedNs + own.oneWayNs(),
                            ackedNs -> swap(ackedNs, freeNs -> {
                                done++;
                                happen(freeNs);
                            })));
        }

        /** A compare-and-set of the lock, there and back. */
        private void swap(long nowNs, ModelEvent then) {
            queue.at(nowNs + own.oneWayNs(), arrivedNs -> {
                final long lock = (AREA_SECTORS + own.below((int) AREA_SECTORS)) * PersistentMemory.SECTOR_LENGTH;
                final long acceptedNs = inPersistentMemory ? memory.request(lock, LOCK, arrivedNs) : arrivedNs;
                queue.at(acceptedNs + own.oneWayNs(), then);
            });
        }
    }

    private double rate(long durationNs) {
        queue.runUntil(WARM_UP_NS);
        done = 0;
        queue.runUntil(WARM_UP_NS + durationNs);
        return done * 1e3 / durationNs;
    }

    /** H9: microseconds of a write with its read, both posted at once or the read after the write's completion. */
    public static double persistUs(boolean atOnce, long seed) {
        final HintModel model = new HintModel(MemorySettings.OF_THE_PAPER, seed);
        model.persistAgain(0, atOnce);
        return 1 / model.rate(SAMPLES_NS);
    }

    private void persistAgain(long nowNs, boolean atOnce) {
        final long written = atOnce ? 0 : random.oneWayNs() + random.oneWayNs();
        queue.at(
                nowNs + written + random.oneWayNs(),
                arrivedNs -> card.arrive(
                        arrivedNs,
                        NetworkCard.RECEIVER_PLACES,
                        PersistentMemory.SECTOR_LENGTH,
                        persistedNs -> queue.at(persistedNs + random.oneWayNs(), ackedNs -> {
                            done++;
                            persistAgain(ackedNs, atOnce);
                        })));
    }

    /** H3: write amplification of one sequential stream, through a cache that evicts sectors at random or without one. */
    public static double amplificationOfOneStream(boolean throughCache, long sectors, long seed) {
        final HintModel model = new HintModel(MemorySettings.OF_THE_PAPER.withDimms(DIMMS), seed);
        final long[] cached = new long[Costs.DDIO_SECTORS];
        java.util.Arrays.fill(cached, -1);
        for (long sector = 0; sector < sectors; sector++) {
            if (sector == sectors / 4) {
                model.memory.resetCounts();
            }
            long evicted = sector;
            if (throughCache) {
                final int slot = model.random.below(cached.length);
                evicted = cached[slot];
                cached[slot] = sector;
            }
            if (evicted >= 0) {
                model.memory.request(evicted * PersistentMemory.SECTOR_LENGTH, PersistentMemory.SECTOR_LENGTH, 0);
            }
        }
        return model.memory.writeAmplification();
    }
}
