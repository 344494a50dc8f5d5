package org.rowankv.server.area;

import org.rowankv.server.durability.AreaMemory;

/**
 * The machine under an area in a file. Applications get the present machine; a test of power cuts supplies its own.
 *
 * @param bootId identifies this start of the operating system; called on an internal thread
 * @param memory wraps the memory of every area, to observe forces
 */
public record Machine(BootIds bootId, Memories memory) {
    /** The machine that this process runs on. */
    public static final Machine PRESENT = new Machine(BootId::current, (settings, memory) -> memory);

    /** Wraps memory. */
    @FunctionalInterface
    public interface Memories {
        AreaMemory around(AreaSettings settings, AreaMemory memory);
    }

    /** Supplies the identity of the operating system's start. */
    @FunctionalInterface
    public interface BootIds {
        BootId current();
    }
}
