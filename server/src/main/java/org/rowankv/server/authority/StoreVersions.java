package org.rowankv.server.authority;

/**
 * Versions of two nodes of the configuration store, of one linearizable read. A manager's vote changes the second on
 * condition of the first; an election changes the first on condition of both. So an election that succeeds proves that
 * no vote was given since the read. Immutable.
 *
 * @param configuration of the node with the configuration
 * @param vote of the node that managers write to be confirmed by the store
 */
public record StoreVersions(long configuration, long vote) {}
