package org.rowankv.server.pm;

import org.rowankv.runtime.Agent;
import org.rowankv.runtime.Chaos;

/** Turns a {@link Forcer}. Has a thread of its own, since a force takes as long as the device does. */
final class ForceAgent implements Agent {
    private final Forcer forcer;
    private final int serverId;

    ForceAgent(Forcer forcer, int serverId) {
        this.forcer = forcer;
        this.serverId = serverId;
    }

    @Override
    public String roleName() {
        return "force-" + serverId;
    }

    @Override
    public void onStart() {
        forcer.isTurnedBy(Thread.currentThread());
    }

    @Override
    public int doWork() {
        if (!forcer.isWanted()) {
            return 0;
        }
        Chaos.point("force.before");
        if (!forcer.force()) {
            return 0;
        }
        Chaos.point("force.after");
        return 1;
    }

    @Override
    public void onClose() {
        forcer.isTurnedBy(null);
    }
}
