package org.rowankv.rdma.channel;

/**
 * Sizes of the connections over an RDMA device.
 *
 * @param slots SENDs in flight in each direction of a connection; a power of two from 4 to 4096
 * @param slotLength bytes of a SEND, a multiple of 64
 * @param maxConnections connections at a time, including those that close; with their slots they fit a completion queue
 * @param lingerMs longest time that a closed connection waits for its last SENDs
 * @param oneSided WRITEs and READs in flight on a connection; 0 if there are none
 */
public record VerbsSettings(int slots, int slotLength, int maxConnections, int lingerMs, int oneSided) {
    public VerbsSettings {
        require(oneSided >= 0 && oneSided <= 1024, "oneSided", oneSided);
        require(slots >= 4 && slots <= 4096 && Integer.bitCount(slots) == 1, "slots", slots);
        require(slotLength >= 64 && slotLength <= 1 << 20 && slotLength % 64 == 0, "slotLength", slotLength);
        require(maxConnections > 0 && (long) maxConnections * slots <= 1 << 22, "maxConnections", maxConnections);
        require(lingerMs >= 0, "lingerMs", lingerMs);
    }

    /** 32 slots of 4 KiB, and 480 connections: a completion queue of 30,720, which soft-RoCE has too. */
    public static VerbsSettings usual() {
        return new VerbsSettings(32, 4096, 480, 1000);
    }

    /** Without WRITEs and READs. */
    public VerbsSettings(int slots, int slotLength, int maxConnections, int lingerMs) {
        this(slots, slotLength, maxConnections, lingerMs, 0);
    }

    /** For senders that place their entries: as many completions, of fewer connections. */
    public static VerbsSettings usualOneSided() {
        return new VerbsSettings(32, 4096, 320, 1000, 32);
    }

    int completions() {
        // A failed queue pair completes each of its WRITEs.
        return (2 * slots + oneSided) * maxConnections;
    }

    private static void require(boolean condition, String name, int value) {
        if (!condition) {
            throw new IllegalArgumentException(name + " = " + value);
        }
    }
}
