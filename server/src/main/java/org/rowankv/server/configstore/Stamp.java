package org.rowankv.server.configstore;

/**
 * Identifies one write of a configuration store's node. A writer that lost the connection during a compare-and-set
 * reads the node back and recognises its own write by the stamp.
 *
 * @param writer unique among all running writers
 * @param nonce random, new for each write
 */
public record Stamp(String writer, long nonce) {}
