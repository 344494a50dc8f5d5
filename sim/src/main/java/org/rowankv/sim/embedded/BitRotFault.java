package org.rowankv.sim.embedded;

/**
 * A fault that flips bits of one server's area or a bit of one of its checkpoints. Areas are hit while the server runs
 * or before its next start.
 */
final class BitRotFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (b % 5 == 0) {
            final int server = a % simulation.plan().servers();
            if (simulation.memories().checkpointsOf(server).flip(a, b * 997, 1 << a % Byte.SIZE)) {
                simulation.eventCounters().count("bits that flipped in a checkpoint");
            }
            simulation.points().crashIn(a);
        } else if (simulation.victim().isChosen(a)) {
            final boolean now = b % 2 == 0;
            simulation.victim().rot(b / 2, now);
            if (!now) {
                simulation.endSoon(a);
            }
        }
    }
}
