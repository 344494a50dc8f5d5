package org.rowankv.bench.report;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/** Key choice of one thread: uniform, at minimal cost. */
@State(Scope.Thread)
public class Dice {
    private long state;

    @Setup(Level.Trial)
    public void seed(ThreadParams thread) {
        state = 0x2545F4914F6CDD1DL * (thread.getThreadIndex() + 1);
    }

    public int next(int bound) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return (int) ((state >>> 33) * bound >>> 31);
    }
}
