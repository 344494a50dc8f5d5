package org.rowankv.server.catalogue;

/**
 * Content of ids that no cache has yet. Such an id is destroyed at the next start of the store unless a cache has it by
 * then. Thread-safe; calls block.
 */
public interface SpareContents {
    /** A new id. */
    int spare();

    /**
     * Gives a cache the content of such an id, and a descriptor, in one step; its limit stays, and its former content is
     * destroyed. False if there is no cache of that name; the id is spare then.
     */
    boolean replace(String name, int spareId, byte[] descriptor);

    /** Destroys the content of such an id now, unless a cache has it. */
    void endSpare(int id);
}
