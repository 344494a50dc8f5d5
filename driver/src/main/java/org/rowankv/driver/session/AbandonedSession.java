package org.rowankv.driver.session;

import java.util.BitSet;

/**
 * An abandoned session.
 *
 * @param openShards where it is or may be open
 */
record AbandonedSession(long sessionId, BitSet openShards) {}
