package org.rowankv.daemon;

import org.rowankv.runtime.Chaos;

/** {@code rowan server} with an agent whose invariant breaks after some cycles. */
public final class BreakingServer {
    private static final int CYCLES = 50;

    private BreakingServer() {}

    public static void main(String[] arguments) {
        Chaos.install(name -> {
            if (name.equals("commit.counted") && Chaos.hits(name) >= CYCLES) {
                throw new AssertionError("planted");
            }
        });
        ServerCommand.main(arguments);
    }
}
