package org.rowankv.rdma.local;

import java.util.function.Consumer;
import org.rowankv.rdma.AckLevel;
import org.rowankv.runtime.CounterStarts;

/**
 * Sizes of a local fabric.
 *
 * @param maxMessage longest SEND in bytes, a multiple of 64, at most 128 KiB; longer entries land as blocks
 * @param completions capacity of a queue pair for unpolled completions; a power of two
 * @param messages capacity of an endpoint for RPC messages; senders beyond it get QUEUE_FULL
 * @param maxRpc longest RPC message in bytes
 * @param keepsReserve whether the last posted segment is kept for queue pairs that {@link
 *     org.rowankv.rdma.QueuePair#useReserve use the reserve}: their records may be needed to free segments
 * @param ackLevel durability of a completion; at FORCED every endpoint needs a {@link org.rowankv.rdma.LandingForce}
 * @param counters first ordinals of posted segments and epochs of rings
 */
public record LocalFabricSettings(
        int maxMessage,
        int completions,
        int messages,
        int maxRpc,
        boolean keepsReserve,
        AckLevel ackLevel,
        CounterStarts counters) {
    /** The ring word's length field allows more; beyond this, copying under one reservation delays readers. */
    public static final int LARGEST_MESSAGE = 128 << 10;

    public LocalFabricSettings {
        require(maxMessage >= 64 && maxMessage <= LARGEST_MESSAGE && maxMessage % 64 == 0, "maxMessage", maxMessage);
        require(completions >= 2 && Integer.bitCount(completions) == 1, "completions", completions);
        require(messages >= 2, "messages", messages);
        require(maxRpc > 0, "maxRpc", maxRpc);
    }

    /** 16 KiB messages, as many as a segment of a small area holds without waste. */
    public static LocalFabricSettings defaults() {
        return of(usual -> {});
    }

    /**
     * The default settings with changes.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public static LocalFabricSettings of(Consumer<Builder> change) {
        final Builder builder = new Builder();
        change.accept(builder);
        return builder.build();
    }

    /** Values to change, named as in the settings; each starts with its default. */
    public static final class Builder {
        public int maxMessage = 16 << 10;
        public int completions = 256;
        public int messages = 1024;
        public int maxRpc = 16 << 20;
        public boolean keepsReserve;
        public AckLevel ackLevel = AckLevel.LANDED;
        public CounterStarts counters = CounterStarts.USUAL;

        private Builder() {}

        private LocalFabricSettings build() {
            return new LocalFabricSettings(maxMessage, completions, messages, maxRpc, keepsReserve, ackLevel, counters);
        }
    }

    private static void require(boolean condition, String name, int value) {
        if (!condition) {
            throw new IllegalArgumentException(name + " = " + value);
        }
    }
}
