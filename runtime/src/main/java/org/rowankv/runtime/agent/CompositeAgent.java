package org.rowankv.runtime.agent;

import java.util.Arrays;
import org.rowankv.runtime.FailureRun;
import org.rowankv.runtime.Failures;

/**
 * Several agents as one, for a shared thread. Each turn gives every agent its turn, in order; one that throws does
 * not keep the others from theirs, and the first failure is thrown on when all had it. Only an error ends the turn at once. The
 * failures of each are counted apart ({@link FailureRun}), since others may work in the same turn.
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
                runs[i].turned(done);
                work += done;
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, runs[i].failed(agents[i].roleName(), e));
                if (failure instanceof Error) {
                    break; // the others must not build on what is left
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
