package org.rowankv.rdma.leased;

import org.rowankv.rdma.channel.OneSidedChannel;
import org.rowankv.rdma.verbs.VerbsConnection.OneSidedPosting;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * Entries that are written in one post: one or two WRITEs of adjacent entries, then the progress word, then the READ, in
 * this order. The READ completes when all of it is in the receiver's memory.
 *
 * <p>Guarded by its stream.
 */
final class WriteBatch {
    private static final int MOST_RUNS = 2;

    private final StagingMemory staging;
    private final int wordOffset;
    private final OneSidedPosting[] postings = new OneSidedPosting[MOST_RUNS];
    private final int[] offsets = new int[MOST_RUNS];
    private final int[] lengths = new int[MOST_RUNS];
    private final long[] addresses = new long[MOST_RUNS];
    private final int[] keys = new int[MOST_RUNS];
    private int runs;
    private long lastSequence;
    private long position;
    private long stagedUpTo;

    /** @param index of the batch; its postings have the numbers {@code 2 · index} and the next */
    WriteBatch(StagingMemory staging, OneSidedChannel channel, int index) throws VerbsException {
        this.staging = staging;
        this.wordOffset = staging.wordOffset(index);
        for (int i = 0; i < MOST_RUNS; i++) {
            postings[i] = channel.prepareOneSided(
                    staging.registered(), i + 2, staging.registered(), staging.targetOffset(), MOST_RUNS * index + i);
        }
    }

    /** Work requests of one batch, at most. */
    static int workRequests() {
        return MOST_RUNS + 2;
    }

    static int indexOf(int posting) {
        return posting / MOST_RUNS;
    }

    boolean isEmpty() {
        return runs == 0;
    }

    /** Whether an entry there can be added. */
    boolean takes(int offset, long remoteAddress) {
        return runs < MOST_RUNS || continues(offset, remoteAddress);
    }

    private boolean continues(int offset, long remoteAddress) {
        final int last = runs - 1;
        return runs > 0 && offsets[last] + lengths[last] == offset && addresses[last] + lengths[last] == remoteAddress;
    }

    /** Adds a sealed entry. */
    void add(int offset, int length, long remoteAddress, int remoteKey, long sequence, long newPosition, long upTo) {
        if (continues(offset, remoteAddress)) {
            lengths[runs - 1] += length;
        } else {
            offsets[runs] = offset;
            lengths[runs] = length;
            addresses[runs] = remoteAddress;
            keys[runs] = remoteKey;
            runs++;
        }
        lastSequence = sequence;
        position = newPosition;
        stagedUpTo = upTo;
    }

    /** On the NIC agent's event loop. */
    void post(long wordAddress, int wordKey) throws VerbsException {
        final OneSidedPosting posting = postings[runs - 1];
        for (int i = 0; i < runs; i++) {
            posting.write(i, offsets[i], lengths[i], addresses[i], keys[i]);
        }
        staging.memory().putLong(wordOffset, position);
        posting.write(runs, wordOffset, Long.BYTES, wordAddress, wordKey);
        posting.read(wordAddress, wordKey);
        posting.post();
    }

    /** Its READ has completed. */
    void clear() {
        runs = 0;
    }

    long lastSequence() {
        return lastSequence;
    }

    /** Staging that is free once it is done. */
    long stagedUpTo() {
        return stagedUpTo;
    }
}
