package org.rowankv.server.dispatch;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;

/**
 * The agents of a server: one on a thread for all, or several side by side (docs/design/cluster.md). They
 * fail together: once a broken invariant stops one of them, or the server's memory is lost, the others do nothing more.
 * Another access to lost memory could end the JVM.
 *
 * <p>Thread-safe. The first agent is the one that digests landed entries.
 */
public final class ServerAgents implements AutoCloseable {
    private final Scheduling scheduling;
    private final ErrorLog errors;
    private final ServingState serving;
    private final Consumer<InternalError> whenFaulty;
    private final List<AgentHandle> all = new ArrayList<>();
    private volatile boolean broken;

    /** @param whenFaulty receives each memory fault of an agent */
    public ServerAgents(
            Scheduling scheduling, ErrorLog errors, ServingState serving, Consumer<InternalError> whenFaulty) {
        this.scheduling = scheduling;
        this.errors = errors;
        this.serving = serving;
        this.whenFaulty = whenFaulty;
    }

    /**
     * Adds an agent. Call before the start.
     *
     * @param rest how long the agent may idle after a cycle without work
     */
    public void add(Agent agent, LongSupplier rest) {
        all.add(scheduling.take(new GuardedAgent(agent, rest), errors));
    }

    private final class GuardedAgent implements Agent {
        private final Agent agent;
        private final LongSupplier rest;

        GuardedAgent(Agent agent, LongSupplier rest) {
            this.agent = agent;
            this.rest = rest;
        }

        @Override
        public int doWork() {
            if (broken || serving.isLost()) {
                return 0;
            }
            try {
                return doGuardedWork();
            } catch (Error e) {
                broken = true;
                throw e;
            }
        }

        private int doGuardedWork() {
            try {
                return agent.doWork(); // repeated failures end in an AssertionError: see CompositeAgent
            } catch (InternalError e) {
                whenFaulty.accept(e);
                return 0;
            }
        }

        @Override
        public long idleNs() {
            return rest.getAsLong();
        }

        @Override
        public boolean awaitsAnswer() {
            return agent.awaitsAnswer();
        }

        @Override
        public String roleName() {
            return agent.roleName();
        }

        @Override
        public void onStart() {
            agent.onStart();
        }

        @Override
        public void onClose() {
            if (!serving.isLost()) {
                agent.onClose();
            }
        }
    }

    public void start() {
        for (AgentHandle agent : all) {
            agent.start();
        }
    }

    /** Wakes the agents: there is work for some of them. */
    public void wakeUp() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).wakeUp();
        }
    }

    /** Signals that there may be deferrable work for some of them. */
    void endLongPauses() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).endLongPause();
        }
    }

    /** Signals the agent that digests. */
    public void endDigestPause() {
        all.get(0).endLongPause();
    }

    /** Duty cycles of all agents together. */
    public long cycles() {
        return all.stream().mapToLong(AgentHandle::cycles).sum();
    }

    /** Idle waits of all agents together. */
    public long longPauses() {
        return all.stream().mapToLong(AgentHandle::longPauses).sum();
    }

    /** Whether the agents are closed, or a broken invariant has stopped one of them. */
    public boolean isClosed() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isClosed()) {
                return true;
            }
        }
        return false;
    }

    /** Closes the agents in order, waiting for cycles in progress. Not to be called by an agent. */
    @Override
    public void close() {
        all.forEach(AgentHandle::close);
    }
}
