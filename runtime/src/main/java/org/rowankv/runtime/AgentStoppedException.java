package org.rowankv.runtime;

/**
 * Thrown to callers of an agent that a broken invariant or a JVM error has stopped; the cause says which. Nothing may
 * rely on the agent's work any more.
 */
public final class AgentStoppedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public AgentStoppedException(String roleName, Throwable cause) {
        super("agent " + roleName + " was stopped by " + cause + ", whose stack is in the log", cause);
    }
}
