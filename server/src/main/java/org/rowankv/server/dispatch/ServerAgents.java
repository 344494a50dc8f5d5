package org.rowankv.server.dispatch;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.TurnedAgent;

/**
 * The agents of a server as those see them who wait for them: one on a thread for all, or several side by side
 * (docs/design/20-threading-modes.md). They stand and fall together: once a broken invariant has stopped one, the others touch
 * nothing any more.
 *
 * <p>For any thread. The first is the one that digests what lands.
 */
public final class ServerAgents implements AutoCloseable {
    private final List<TurnedAgent> all = new ArrayList<>();
    private volatile boolean broken;

    public ServerAgents(Scheduling scheduling, ErrorLog errors, List<Agent> sideBySide) {
        for (Agent agent : sideBySide) {
            all.add(scheduling.take(new Sibling(agent), errors));
        }
    }

    private final class Sibling implements Agent {
        private final Agent agent;

        Sibling(Agent agent) {
            this.agent = agent;
        }

        @Override
        public int doWork() {
            if (broken) {
                return 0;
            }
            try {
                return agent.doWork(); // a run of failures ends in an AssertionError: see CompositeAgent
            } catch (Error e) {
                broken = true;
                throw e;
            }
        }

        @Override
        public long restNs() {
            return agent.restNs();
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
            agent.onClose();
        }
    }

    public void start() {
        all.forEach(TurnedAgent::start);
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
        return all.stream().mapToLong(TurnedAgent::turns).sum();
    }

    /** Rests of all of them together. */
    public long rests() {
        return all.stream().mapToLong(TurnedAgent::rests).sum();
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
        all.forEach(TurnedAgent::close);
    }
}
