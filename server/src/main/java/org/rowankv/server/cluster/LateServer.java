package org.rowankv.server.cluster;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.peer.PressureRounds;
import org.rowankv.server.request.SpacePressure;

/** Stands for the pressure rounds of a server while that is being made, since each needs the other. */
final class LateServer implements SpacePressure, IntConsumer {
    private volatile @Nullable PressureRounds rounds;

    void is(PressureRounds made) {
        rounds = made;
    }

    private PressureRounds rounds() {
        final PressureRounds made = rounds;
        if (made == null) {
            throw new AssertionError("asked before the server was made");
        }
        return made;
    }

    @Override
    public void accept(int server) {
        rounds().wakeUp(server);
    }

    @Override
    public void wakeUp(int server) {
        rounds().wakeUp(server);
    }

    @Override
    public void wantSpace(int server) {
        rounds().wantSpace(server);
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        return rounds().isExpiring(sinceNs);
    }

    @Override
    public long settledTurns(int server) {
        return rounds().settledTurns(server);
    }
}
