package org.rowankv.bench.paper.memory;

/**
 * Constants of the memory model.
 *
 * @param dimms DIMMs that addresses are spread over, 4 KB at a time; at least 1
 * @param lines lines of 256 bytes that the buffer of one DIMM holds; at least 1
 * @param lineNs nanoseconds in which the media of one DIMM take a line; at least 1
 * @param readNs nanoseconds in which they read one before they can write it in part; at least 0
 * @param waiting evicted lines that wait for the media before the DIMM refuses a write; at least 1
 */
public record MemorySettings(int dimms, int lines, long lineNs, long readNs, int waiting) {
    /**
     * The paper's servers: three DIMMs. 44 of the nominal 64 lines: fitted, and all 64 would amplify nothing at 144
     * streams; the rest is taken to serve reads and metadata. 5.7 GB/s of media bandwidth; a read before a write takes
     * 0.3 of its time.
     */
    public static final MemorySettings OF_THE_PAPER = new MemorySettings(3, 44, 135, 40, 2);

    public MemorySettings {
        if (dimms < 1 || lines < 1 || lineNs < 1 || readNs < 0 || waiting < 1) {
            throw new IllegalArgumentException("out of range: dimms=" + dimms + " lines=" + lines + " lineNs=" + lineNs
                    + " readNs=" + readNs + " waiting=" + waiting);
        }
    }

    public MemorySettings withDimms(int count) {
        return new MemorySettings(count, lines, lineNs, readNs, waiting);
    }

    /** Bytes per second that the media of all DIMMs take in whole lines. */
    public double mediaBytesPerSecond() {
        return dimms * PersistentMemory.LINE_LENGTH * 1e9 / lineNs;
    }
}
