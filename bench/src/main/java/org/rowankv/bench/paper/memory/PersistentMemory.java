package org.rowankv.bench.paper.memory;

/**
 * The persistent memory of one server: DIMMs that merge 64-byte writes into lines of 256 bytes, as the paper's section
 * 2.1 describes them.
 *
 * <p>To replay a trace, {@link #request} each write in the order in which the writes reach the memory, then read {@link
 * #writeAmplification}. A warm-up ends with {@link #resetCounts}, which leaves the buffers as they are. Lines still in
 * the buffers have cost no media write; {@link #evictAll} at the end of a short trace adds them.
 *
 * <p>Addresses are bytes from 0; address / 4096 modulo the number of DIMMs is the DIMM. Times are nanoseconds of the
 * simulation. Two writers of one sector are not distinguished: only the order of calls counts, not what is written.
 *
 * <p>Reads, wear levelling and the loss of power are not modelled. Not thread-safe.
 */
public final class PersistentMemory {
    /** Unit that the memory bus carries, and that the buffers merge. */
    public static final int SECTOR_LENGTH = 64;

    /** Unit that media write: an XPLine. */
    public static final int LINE_LENGTH = 256;

    /** Consecutive bytes that lie in one DIMM. */
    public static final int INTERLEAVE_LENGTH = 4096;

    private final Dimm[] dimms;

    public PersistentMemory(MemorySettings settings) {
        dimms = new Dimm[settings.dimms()];
        for (int i = 0; i < dimms.length; i++) {
            dimms[i] = new Dimm(settings);
        }
    }

    /**
     * Writes a range, and returns when the DIMM has accepted all of it: at once while few evictions wait for the media,
     * else as soon as they do. An accepted write is durable. A sector that is covered in part costs a read of its line.
     *
     * @param address first byte, at least 0
     * @param length bytes, at least 1
     * @param timeNs when it reaches the memory; a time before that of an earlier call does no harm
     * @return nanoseconds, at least {@code timeNs}
     */
    public long request(long address, int length, long timeNs) {
        if (address < 0 || length < 1) {
            throw new IllegalArgumentException("address " + address + ", length " + length);
        }
        final long end = address + length;
        long acceptedNs = timeNs;
        for (long at = address; at < end; ) {
            final long next = Math.min(end, (at / SECTOR_LENGTH + 1) * SECTOR_LENGTH);
            final boolean whole = next - at == SECTOR_LENGTH;
            acceptedNs = Math.max(acceptedNs, dimmOf(at).write(at / SECTOR_LENGTH, whole, timeNs));
            at = next;
        }
        return acceptedNs;
    }

    private Dimm dimmOf(long address) {
        return dimms[(int) (address / INTERLEAVE_LENGTH % dimms.length)];
    }

    /** Nanoseconds for which the media that hold the address have work already, at that time. */
    public long lagNs(long address, long timeNs) {
        return Math.max(0, dimmOf(address).mediaFreeNs() - timeNs);
    }

    /** Empties the buffers into the media; counts as media writes. */
    public void evictAll(long timeNs) {
        for (Dimm dimm : dimms) {
            dimm.evictAll(timeNs);
        }
    }

    /** Sets the counts to 0, and leaves the buffers full. */
    public void resetCounts() {
        for (Dimm dimm : dimms) {
            dimm.resetCounts();
        }
    }

    /** Bytes that came over the memory bus: a sector in part counts as one. */
    public long requestBytes() {
        long sectors = 0;
        for (Dimm dimm : dimms) {
            sectors += dimm.sectors();
        }
        return sectors * SECTOR_LENGTH;
    }

    /** Bytes written to the media. */
    public long mediaBytes() {
        long evicted = 0;
        for (Dimm dimm : dimms) {
            evicted += dimm.evicted();
        }
        return evicted * LINE_LENGTH;
    }

    /** Device-level write amplification (DLWA): bytes written to the media per byte requested; 1 before any request. */
    public double writeAmplification() {
        final long requested = requestBytes();
        return requested == 0 ? 1 : (double) mediaBytes() / requested;
    }
}
