package org.rowankv.bench.paper.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.memory.PersistentMemory;
import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.paper.model.EventQueue;
import org.rowankv.bench.paper.model.NetworkCard;

/** A server: workers, clean threads, a network card, and persistent memory with the logs of all of them. */
final class ServerModel {
    private static final int CLEANERS = 6;
    private static final int PERCENT = 100;
    /** No log grows as long in a simulation; a multiple of lines and of the interleaving of all numbers of DIMMs. */
    private static final long LOG_LENGTH = 96L << 20;

    private static final int LINES = 48;

    final int number;
    final PersistentMemory memory;
    final NetworkCard card;
    final List<WorkerModel> workers = new ArrayList<>();
    private final Log[] cleanLogs = new Log[CLEANERS];
    private final EntityRandom random;
    private int logs;
    private long toClean;
    private int nextCleaner;

    ServerModel(int number, EventQueue queue, ClusterPoint point, EntityRandom random) {
        this.number = number;
        this.random = random;
        memory = new PersistentMemory(MemorySettings.OF_THE_PAPER.withDimms(point.dimms()));
        card = new NetworkCard(queue, memory, newBase());
        for (int i = 0; i < point.workers(); i++) {
            workers.add(new WorkerModel(this, i, queue, newLog(), newLog()));
        }
        for (int i = 0; i < CLEANERS; i++) {
            cleanLogs[i] = newLog();
        }
    }

    /** A log in this server; it begins anywhere, but at a line. */
    Log newLog() {
        return new Log(newBase());
    }

    private long newBase() {
        return LOG_LENGTH * logs++ + (long) PersistentMemory.LINE_LENGTH * random.below(LINES);
    }

    WorkerModel anyWorker(EntityRandom of) {
        return workers.get(of.below(workers.size()));
    }

    /** Appends by the processor; returns when the entry is persistent. */
    long persist(long nowNs, Log log, int length) {
        final long acceptedNs = memory.request(log.append(length), length, nowNs);
        clean(nowNs, length);
        return nowNs + Math.max(Costs.PERSIST, acceptedNs - nowNs);
    }

    /** Some bytes of each entry that comes in are copied once more by clean threads. */
    void clean(long nowNs, int length) {
        toClean += (long) length * Costs.CLEANING_PERCENT;
        while (toClean >= (long) length * PERCENT) {
            toClean -= (long) length * PERCENT;
            final Log log = cleanLogs[nextCleaner];
            nextCleaner = (nextCleaner + 1) % CLEANERS;
            memory.request(log.append(length), length, nowNs);
        }
    }
}
