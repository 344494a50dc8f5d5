package org.rowankv.server.durability;

import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.agent.Agent;

/** The duty cycle of a {@link GroupCommit}. Has its own thread, since a force takes as long as the device does. */
public final class ForceAgent implements Agent {
    private final GroupCommit forcer;
    private final int serverId;

    public ForceAgent(GroupCommit forcer, int serverId) {
        this.forcer = forcer;
        this.serverId = serverId;
    }

    @Override
    public String roleName() {
        return "force-" + serverId;
    }

    @Override
    public void onStart() {
        forcer.runsOn(Thread.currentThread());
    }

    @Override
    public int doWork() {
        if (!forcer.isRequested()) {
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
        forcer.runsOn(null);
    }
}
