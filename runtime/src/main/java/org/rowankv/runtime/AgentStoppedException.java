package org.rowankv.runtime;

/** A broken invariant, or an error of the JVM, has stopped an agent; its cause says which. Nothing may build on its work any more. */
public final class AgentStoppedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public AgentStoppedException(String roleName, Throwable cause) {
        super("agent " + roleName + " was stopped by " + cause + ", whose stack is in the log", cause);
    }
}
