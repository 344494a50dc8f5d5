package org.rowankv.bench.paper.model;

import java.util.List;
import java.util.Locale;
import org.rowankv.bench.paper.memory.MemorySettings;

/**
 * The costs that every figure uses: one set for all of them, in nanoseconds unless the name says otherwise. Those of
 * the processor are calibrated from four throughputs of the paper.
 */
public final class Costs {
    /** Processor time of a get on its worker. */
    public static final long GET = 1_000;

    /** Processor time of a put until its entry is in the log, and from the last acknowledgement to the reply. */
    public static final long PUT_BEGIN = 2_150;

    public static final long PUT_END = 400;

    /** Processor time to post a write, a batch or a replication request. */
    public static final long POST = 120;

    /** Least time in which a worker persists an entry in its own log. */
    public static final long PERSIST = 200;

    /** Processor time of a backup that appends an entry which came by RPC, without its persist. */
    public static final long REPLICATION_RPC = 400;

    /** With DDIO on, messages come through the cache: processor time of RPC-KV in percent. */
    public static final int DDIO_PERCENT = 95;

    /** One way through the network: least time, and mean of the exponential part. */
    public static final long ONE_WAY = 500;

    public static final long ONE_WAY_JITTER = 150;

    /** A read that pushes writes before it out of the receiving card. */
    public static final long FLUSH = 1_800;

    /** The receiving card takes a write with its read in this time, in picoseconds: 54.5 million in a second. */
    public static final long CARD_OPERATION_PS = 18_349;

    /** A byte of a one-sided write, in picoseconds: 34 million writes of 256 bytes in a second. */
    public static final long CARD_BYTE_PS = 115;

    /** Work by which the memory may lag before the card, which writes in order, waits for it. */
    public static final long CARD_LAG = 5_000;

    /** Between two writes of a core that writes its own memory: 18 of them reach 5.4 GB/s. */
    public static final long LOCAL_WRITE = 420;

    /** Time between two writes of a stream, exponential part in percent. */
    public static final int STREAM_JITTER_PERCENT = 20;

    /** Share-KV: percent of the writes that are late at the receiver, and by how much at the mean. */
    public static final int LATE_PERCENT = 50;

    public static final long LATE = 15_000;

    /** Bytes that cleaning copies, in percent of the bytes that come into logs. */
    public static final int CLEANING_PERCENT = 20;

    /** Batch-KV sends a batch of more bytes, or of this age. */
    public static final int BATCH_BYTES = 256;

    public static final long BATCH_AGE = 5_000;

    /** Sectors in the part of the last-level cache that DDIO uses, for hint H3. */
    public static final int DDIO_SECTORS = 650;

    public static final int PADDING = 64;

    private static final String CALIBRATED = "calibrated";
    private static final String FITTED = "fitted";

    private Costs() {}

    /** The form of {@code parameters.properties}; the comment behind a line says where its value comes from. */
    public static List<String> properties() {
        final MemorySettings memory = MemorySettings.OF_THE_PAPER;
        return List.of(
                line("memory.dimms", memory.dimms(), "paper, 6.1"),
                line("memory.lines", memory.lines(), FITTED + " to figure 2; nominal 64"),
                line("memory.line-ns", memory.lineNs(), CALIBRATED + ": 5.7 GB/s"),
                line("memory.read-ns", memory.readNs(), FITTED),
                line("memory.waiting", memory.waiting(), FITTED),
                line("get-ns", GET, CALIBRATED),
                line("put.begin-ns", PUT_BEGIN, CALIBRATED),
                line("put.end-ns", PUT_END, CALIBRATED),
                line("post-ns", POST, CALIBRATED),
                line("persist-ns", PERSIST, CALIBRATED),
                line("replication-rpc-ns", REPLICATION_RPC, CALIBRATED),
                line("ddio-percent", DDIO_PERCENT, "paper, 6.3: get throughput 5 % higher"),
                line("one-way-ns", ONE_WAY, CALIBRATED + ": 3 and 4 us of the hints"),
                line("one-way.jitter-ns", ONE_WAY_JITTER, CALIBRATED),
                line("flush-ns", FLUSH, CALIBRATED + ": 3 and 4 us of the hints"),
                line("card.operation-ps", CARD_OPERATION_PS, "paper, 6.2: 54.5 M/s"),
                line("card.byte-ps", CARD_BYTE_PS, "hints, H5: 34 M/s of 256 bytes"),
                line("card.lag-ns", CARD_LAG, FITTED),
                line("local-write-ns", LOCAL_WRITE, CALIBRATED + ": 5.4 GB/s by 18 cores"),
                line("stream.jitter-percent", STREAM_JITTER_PERCENT, FITTED + " to figure 2"),
                line("late-percent", LATE_PERCENT, FITTED + " to figure 10, Share-KV"),
                line("late-ns", LATE, FITTED + " to figure 10, Share-KV"),
                line("cleaning-percent", CLEANING_PERCENT, FITTED),
                line("batch.bytes", BATCH_BYTES, "paper, 6.1"),
                line("batch.age-ns", BATCH_AGE, "paper, 6.1"),
                line("ddio-sectors", DDIO_SECTORS, CALIBRATED + " to the write amplification of H3"));
    }

    private static String line(String name, long value, String source) {
        return String.format(Locale.ROOT, "# %s%n%s=%d", source, name, value).replace("\r", "");
    }
}
