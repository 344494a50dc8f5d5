package org.rowankv.server.embedded;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadScheduling;

/** Runs the agents of a server on the threads that wake it, and not at all while it sleeps. Thread-safe. */
final class SleepyServers implements Scheduling {
    private static final String ROLE = "server-";

    private final Set<String> asleep = ConcurrentHashMap.newKeySet();
    private volatile boolean allAsleep;

    /** Every server, until {@link #awake()}. */
    void sleep() {
        allAsleep = true;
    }

    void awake() {
        allAsleep = false;
    }

    void sleep(int server) {
        asleep.add(ROLE + server);
    }

    void awake(int server) {
        asleep.remove(ROLE + server);
    }

    /** The default context, with these agents. */
    EmbeddedContext around() {
        final EmbeddedContext usual = EmbeddedContext.machine();
        return new EmbeddedContext(
                usual.clocks(),
                usual.random(),
                this,
                usual.fabric(),
                null,
                usual.areaMachine(),
                usual.tuning(),
                1,
                true);
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final String role = agent.roleName();
        if (!role.startsWith(ROLE)) {
            return ThreadScheduling.INSTANCE.take(agent, errors);
        }
        final AgentInvoker invoker = new AgentInvoker(agent, errors);
        return new AgentHandle() {
            @Override
            public void start() {
                invoker.start();
            }

            @Override
            public void wakeUp() {
                if (!allAsleep && !asleep.contains(role)) {
                    invoker.tryInvoke();
                }
            }

            @Override
            public boolean isClosed() {
                return invoker.isClosed();
            }

            @Override
            public void close() {
                invoker.close();
            }
        };
    }

    @Override
    public void park(long ns) {
        ThreadScheduling.INSTANCE.park(ns);
    }
}
