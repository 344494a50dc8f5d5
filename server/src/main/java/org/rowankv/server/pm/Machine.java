package org.rowankv.server.pm;

import java.util.function.UnaryOperator;

/**
 * What an area in a file stands on. Applications get the present machine; a test of power cuts brings its own.
 *
 * @param bootId which start of the operating system this is; asked on a thread of ours
 * @param memory wraps the memory of every area, to see what is forced
 */
public record Machine(BootIds bootId, UnaryOperator<AreaMemory> memory) {
    /** The machine that this process runs on. */
    public static final Machine PRESENT = new Machine(BootId::current, UnaryOperator.identity());

    /** Tells the start of the operating system. */
    @FunctionalInterface
    public interface BootIds {
        BootId current();
    }
}
