package org.rowankv.sim.service;

import java.nio.file.Path;
import org.rowankv.protocol.Request;
import org.rowankv.server.embedded.EmbeddedCluster;

/** What a service of a simulated store needs besides. */
public interface StoreScene extends Scene {
    /** Whether the store can be reached. */
    boolean isUp();

    /** Throws the refusal of a store that has stopped itself: what waits for its agents would wait without end. */
    void requireServing();

    /** The present incarnation, or the last one. */
    EmbeddedCluster cluster();

    /** Of the clients. */
    int cacheId();

    int keys();

    byte[] key(int number);

    byte[] value(long id);

    /** Whether the clients ask for whatever they like at the moment. */
    boolean mayAsk();

    /** A value is about to be written, which may be evicted if the cache has a limit. */
    void begun(int key, long value);

    /** Carries a request to its end; others go on meanwhile. */
    void call(Request request);

    /** The id of a value. */
    long valueOf(byte[] bytes, int length);

    /** Opens a copy of the store, apart from the simulation: its agents get turns when it waits. Only {@link #undisturbed}. */
    EmbeddedCluster openCopy(Path directory);

    /** Does something that no point of the simulation stops. */
    void undisturbed(Runnable action);

    Request copyOf(Request request);

    /** Hands an attempt to its server that no client waits for. */
    void deliver(Request request);

    /** A client that has nothing under way goes away without closing its sessions, and comes back as another; false: none could. */
    boolean vanish();
}
