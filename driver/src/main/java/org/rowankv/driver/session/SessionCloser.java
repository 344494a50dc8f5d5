package org.rowankv.driver.session;

import java.util.BitSet;

/**
 * A session that its lane uses no more.
 *
 * @param openShards where it was opened, or may have been, and is not closed yet
 */
record SessionCloser(long sessionId, BitSet openShards) {}
