package org.rowankv.server.cluster;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.peer.SpaceReclaimer;
import org.rowankv.server.request.SpacePressure;

/** Forwards to the space reclaimer of a server that is still being created: each needs the other. */
final class DeferredSpacePressure implements SpacePressure, IntConsumer {
    private volatile @Nullable SpaceReclaimer reclaimer;

    void is(SpaceReclaimer made) {
        reclaimer = made;
    }

    private SpaceReclaimer reclaimer() {
        final SpaceReclaimer made = reclaimer;
        if (made == null) {
            throw new AssertionError("called before the server was created");
        }
        return made;
    }

    @Override
    public void accept(int server) {
        reclaimer().wakeUp(server);
    }

    @Override
    public void wakeUp(int server) {
        reclaimer().wakeUp(server);
    }

    @Override
    public void requestSpace(int server) {
        reclaimer().requestSpace(server);
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        return reclaimer().isExpiring(sinceNs);
    }

    @Override
    public long quietCycles(int server) {
        return reclaimer().quietCycles(server);
    }
}
