package org.rowankv.driver.session;

import java.util.BitSet;

/**
 * A client session that is used no more and must still be closed at its shards.
 *
 * @param openShards where it is or may be open
 */
record AbandonedSession(long sessionId, BitSet openShards) {}
