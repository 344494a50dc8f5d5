package org.rowankv.sim.service;

import java.nio.file.Path;
import org.rowankv.protocol.Request;
import org.rowankv.server.embedded.EmbeddedCluster;

/** Additional callbacks of a service to the simulation of a store. */
public interface StoreScene extends Scene {
    /** Whether the store is reachable. */
    boolean isUp();

    /** Throws the refusal of a store that has stopped itself: a wait for its agents would never end. */
    void requireServing();

    /** The current incarnation, or the last one. */
    EmbeddedCluster cluster();

    /** The id of the clients' cache. */
    int cacheId();

    int keys();

    byte[] key(int number);

    byte[] value(long id);

    /** Whether the clients currently operate without restriction. */
    boolean mayAsk();

    /** A value is about to be written, which may be evicted if the cache has a limit. */
    void begun(int key, long value);

    /** Executes a request to its end; other tasks run meanwhile. */
    void call(Request request);

    /** The id of a value. */
    long valueOf(byte[] bytes, int length);

    /**
     * Opens a copy of the store, outside the simulation: its agents run when it waits. Call only inside {@link
     * #undisturbed}.
     */
    EmbeddedCluster openCopy(Path directory);

    /** Runs an action that no point of the simulation stops. */
    void undisturbed(Runnable action);

    /** Delivers an attempt to its server; no client waits for it. */
    void deliver(Request request);

    /** An idle client vanishes without closing its sessions, and returns as another one; false: none could. */
    boolean vanish();
}
