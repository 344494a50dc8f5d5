package org.rowankv.runtime.agent;

import java.util.Arrays;
import org.rowankv.runtime.FailureRun;
import org.rowankv.runtime.Failures;

/**
 * Several agents combined into one, for a shared thread. Each cycle runs every agent in order. An agent that throws
 * does not stop the others; the first failure is rethrown after all have run. Only an error ends the cycle at once.
 * Failures are counted per agent ({@link FailureRun}), because others may do work in the same cycle.
 */
public final class CompositeAgent implements Agent {
    private final String roleName;
    private final Agent[] agents;
    private final FailureRun[] runs;

    public CompositeAgent(String roleName, Agent... agents) {
        this.roleName = roleName;
        this.agents = agents.clone();
        this.runs = new FailureRun[agents.length];
        Arrays.setAll(runs, i -> new FailureRun());
    }

    @Override
    public int doWork() {
        int work = 0;
        Throwable failure = null;
        for (int i = 0; i < agents.length; i++) {
            try {
                final int done = agents[i].doWork();
                runs[i].completed(done);
                work += done;
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, runs[i].failed(agents[i].roleName(), e));
                if (failure instanceof Error) {
                    break; // Later agents must not use the state that the error left.
                }
            }
        }
        Failures.rethrow(failure);
        return work;
    }

    @Override
    public boolean awaitsAnswer() {
        for (final Agent agent : agents) {
            if (agent.awaitsAnswer()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String roleName() {
        return roleName;
    }

    @Override
    public void onStart() {
        for (final Agent agent : agents) {
            agent.onStart();
        }
    }

    @Override
    public void onClose() {
        Throwable failure = null;
        for (final Agent agent : agents) {
            try {
                agent.onClose();
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
            }
        }
        Failures.rethrow(failure);
    }
}
