package org.rowankv.rdma.local;

import org.rowankv.rdma.AckLevel;
import org.rowankv.runtime.CounterStarts;

/**
 * Sizes of a local fabric.
 *
 * @param maxMessage longest SEND in bytes, a multiple of 64, at most 128 KiB; longer entries land as blocks
 * @param completions completions a queue pair holds before it must be polled; a power of two
 * @param messages RPC messages an endpoint holds before senders are told QUEUE_FULL
 * @param maxRpc longest RPC message in bytes
 * @param keepsReserve whether the last posted segment is kept for queue pairs that {@link org.rowankv.rdma.QueuePair#useReserve use
 *     the reserve}: what they bring may be what frees segments
 * @param ackLevel what a completion promises; at FORCED every endpoint needs a {@link org.rowankv.rdma.LandingForce}
 * @param counters where ordinals of posted segments and epochs of rings begin
 */
public record LocalFabricSettings(
        int maxMessage,
        int completions,
        int messages,
        int maxRpc,
        boolean keepsReserve,
        AckLevel ackLevel,
        CounterStarts counters) {
    /** The ring word's length field would allow more; beyond this, copying under one reservation holds up readers. */
    public static final int LARGEST_MESSAGE = 128 << 10;

    public LocalFabricSettings {
        require(maxMessage >= 64 && maxMessage <= LARGEST_MESSAGE && maxMessage % 64 == 0, "maxMessage", maxMessage);
        require(completions >= 2 && Integer.bitCount(completions) == 1, "completions", completions);
        require(messages >= 2, "messages", messages);
        require(maxRpc > 0, "maxRpc", maxRpc);
    }

    /** 16 KiB messages, as much as a segment of a small area takes without waste. */
    public static LocalFabricSettings defaults() {
        return new LocalFabricSettings(16 << 10, 256, 1024, 16 << 20, false, AckLevel.LANDED, CounterStarts.USUAL);
    }

    /** The same with other longest messages. */
    public LocalFabricSettings withMaxMessage(int bytes) {
        return new LocalFabricSettings(bytes, completions, messages, maxRpc, keepsReserve, ackLevel, counters);
    }

    /** The same, with the last posted segment kept in reserve. */
    public LocalFabricSettings withReserve() {
        return new LocalFabricSettings(maxMessage, completions, messages, maxRpc, true, ackLevel, counters);
    }

    /** The same, with other promises of a completion. */
    public LocalFabricSettings withAckLevel(AckLevel level) {
        return new LocalFabricSettings(maxMessage, completions, messages, maxRpc, keepsReserve, level, counters);
    }

    /** The same, with other beginnings of counters. */
    public LocalFabricSettings withCounters(CounterStarts starts) {
        return new LocalFabricSettings(maxMessage, completions, messages, maxRpc, keepsReserve, ackLevel, starts);
    }

    private static void require(boolean condition, String name, int value) {
        if (!condition) {
            throw new IllegalArgumentException(name + " = " + value);
        }
    }
}
