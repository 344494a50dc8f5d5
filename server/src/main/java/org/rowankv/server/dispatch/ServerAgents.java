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
 * The agents of a server as those see them who wait for them: one on a thread for all, or several side by side
 * (docs/design/20-threading-modes.md). They stand and fall together: once a broken invariant has stopped one, the others touch
 * nothing any more. So it is once the server's memory is lost: the next fault of it might strike where the JVM does not outlive it.
 *
 * <p>For any thread. The first is the one that digests what lands.
 */
public final class ServerAgents implements AutoCloseable {
    private final Scheduling scheduling;
    private final ErrorLog errors;
    private final ServingState serving;
    private final Consumer<InternalError> whenFaulty;
    private final List<AgentHandle> all = new ArrayList<>();
    private volatile boolean broken;

    /** @param whenFaulty is handed each fault of the memory that strikes an agent */
    public ServerAgents(
            Scheduling scheduling, ErrorLog errors, ServingState serving, Consumer<InternalError> whenFaulty) {
        this.scheduling = scheduling;
        this.errors = errors;
        this.serving = serving;
        this.whenFaulty = whenFaulty;
    }

    /** Before the start. @param rest how long the agent may rest after a turn without work */
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
                return turn();
            } catch (Error e) {
                broken = true;
                throw e;
            }
        }

        private int turn() {
            try {
                return agent.doWork(); // a run of failures ends in an AssertionError: see CompositeAgent
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
        all.forEach(AgentHandle::start);
    }

    /** There is work for some of them. */
    public void wakeUp() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).wakeUp();
        }
    }

    /** There may be work for some of them that can wait for a moment. */
    void rouse() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).rouse();
        }
    }

    /** The same, for the one that digests. */
    public void rouseDigest() {
        all.get(0).rouse();
    }

    /** Turns of all of them together. */
    public long turns() {
        return all.stream().mapToLong(AgentHandle::turns).sum();
    }

    /** Rests of all of them together. */
    public long rests() {
        return all.stream().mapToLong(AgentHandle::rests).sum();
    }

    /** Whether they were closed, or a broken invariant has stopped one of them. */
    public boolean isClosed() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isClosed()) {
                return true;
            }
        }
        return false;
    }

    /** Ends them, one after the other, waiting for turns in progress. Not to be called from inside one. */
    @Override
    public void close() {
        all.forEach(AgentHandle::close);
    }
}
