package org.rowankv.server.request;

/** What a worker that finds no room asks of the servers around it. */
public interface SpacePressure {
    /** Somebody waits for free segments or space on that server. */
    void wakeUp(int server);

    /** Somebody has no space on that server, beyond what cleaning can do about segments. */
    void wantSpace(int server);

    /** Whether space on that server may still be given back by work that is under way there (digest, sweep). */
    boolean mayRecover(int server);
}
