package org.rowankv.server.engine;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.rowankv.runtime.agent.Agent;

/**
 * A server's agents, which end with its memory: a fault of it is handed on, and from then on they touch nothing any more,
 * since the next fault might strike where the JVM does not outlive it.
 */
final class FaultAgent implements Agent {
    private final Agent agents;
    private final BooleanSupplier isLost;
    private final Consumer<InternalError> whenFaulty;
    private final LongSupplier rest;

    /** @param rest how long they may rest after a turn without work */
    FaultAgent(Agent agents, LongSupplier rest, BooleanSupplier isLost, Consumer<InternalError> whenFaulty) {
        this.agents = agents;
        this.rest = rest;
        this.isLost = isLost;
        this.whenFaulty = whenFaulty;
    }

    @Override
    public String roleName() {
        return agents.roleName();
    }

    @Override
    public long restNs() {
        return rest.getAsLong();
    }

    @Override
    public boolean awaitsAnswer() {
        return agents.awaitsAnswer();
    }

    @Override
    public void onStart() {
        agents.onStart();
    }

    @Override
    public int doWork() {
        if (isLost.getAsBoolean()) {
            return 0;
        }
        try {
            return agents.doWork();
        } catch (InternalError e) {
            whenFaulty.accept(e);
            return 0;
        }
    }

    @Override
    public void onClose() {
        if (!isLost.getAsBoolean()) {
            agents.onClose();
        }
    }
}
