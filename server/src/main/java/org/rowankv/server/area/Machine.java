package org.rowankv.server.area;

import org.rowankv.server.durability.AreaMemory;

/**
 * What an area in a file stands on. Applications get the present machine; a test of power cuts brings its own.
 *
 * @param bootId which start of the operating system this is; asked on a thread of ours
 * @param memory wraps the memory of every area, to see what is forced
 */
public record Machine(BootIds bootId, Memories memory) {
    /** The machine that this process runs on. */
    public static final Machine PRESENT = new Machine(BootId::current, (settings, memory) -> memory);

    /** Wraps memory. */
    @FunctionalInterface
    public interface Memories {
        AreaMemory around(AreaSettings settings, AreaMemory memory);
    }

    /** Tells the start of the operating system. */
    @FunctionalInterface
    public interface BootIds {
        BootId current();
    }
}
