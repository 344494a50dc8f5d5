package org.rowankv.driver.session;

import java.util.BitSet;

/**
 * An abandoned session.
 *
 * @param openShards where it is or may be open
 */
record SessionCloser(long sessionId, BitSet openShards) {}
