package org.rowankv.runtime;

/**
 * Several agents as one, for a shared thread. Each turn gives every agent its turn, in order; one that throws does
 * not keep the others from theirs, and the first failure is thrown on when all had it.
 */
public final class CompositeAgent implements Agent {
    private final String roleName;
    private final Agent[] agents;

    public CompositeAgent(String roleName, Agent... agents) {
        this.roleName = roleName;
        this.agents = agents.clone();
    }

    @Override
    public int doWork() {
        int work = 0;
        Throwable failure = null;
        for (final Agent agent : agents) {
            try {
                work += agent.doWork();
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
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
