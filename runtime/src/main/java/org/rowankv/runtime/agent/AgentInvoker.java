package org.rowankv.runtime.agent;

import org.rowankv.runtime.ErrorLog;

/**
 * Turns an agent on the threads of its callers ({@link ThreadingMode#INVOKED}).
 *
 * <p>Safe for any thread: a caller either gets the agent for one turn or goes away at once.
 */
public final class AgentInvoker implements TurnedAgent {
    private final AgentTurn turn;

    public AgentInvoker(Agent agent, ErrorLog errors) {
        this.turn = new AgentTurn(agent, errors);
    }

    /** Calls the agent's onStart; the second call does nothing. */
    @Override
    public void start() {
        turn.start();
    }

    /** One turn: the work done; 0 if there was none, another thread has the agent, it failed, or it has ended. */
    public int tryInvoke() {
        return Math.max(0, turn.turn());
    }

    public Agent agent() {
        return turn.agent();
    }

    @Override
    public void wakeUp() {
        // Its callers come by themselves.
    }

    @Override
    public boolean isClosed() {
        return turn.isOver();
    }

    @Override
    public void close() {
        // Ends: a turn never blocks.
        while (!turn.tryClose()) {
            Thread.yield();
        }
    }
}
