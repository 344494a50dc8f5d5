package org.rowankv.server.configstore;

/**
 * Marks one write of a node. A writer that lost the connection in the middle of a compare-and-set reads the node back
 * and knows by the stamp whether the write is its own.
 *
 * @param writer who wrote, unique among all that run
 * @param nonce drawn anew for each write
 */
public record Stamp(String writer, long nonce) {}
