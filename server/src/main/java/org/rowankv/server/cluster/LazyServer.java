package org.rowankv.server.cluster;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.peer.SpaceReclaimer;
import org.rowankv.server.request.SpacePressure;

/** Stands for the pressure rounds of a server while that is being made, since each needs the other. */
final class LazyServer implements SpacePressure, IntConsumer {
    private volatile @Nullable SpaceReclaimer rounds;

    void is(SpaceReclaimer made) {
        rounds = made;
    }

    private SpaceReclaimer rounds() {
        final SpaceReclaimer made = rounds;
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
    public void requestSpace(int server) {
        rounds().requestSpace(server);
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        return rounds().isExpiring(sinceNs);
    }

    @Override
    public long quietCycles(int server) {
        return rounds().quietCycles(server);
    }
}
