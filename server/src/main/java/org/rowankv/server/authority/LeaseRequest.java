package org.rowankv.server.authority;

/**
 * A server's request for a lease, to the manager. Immutable.
 *
 * @param slot of the server that asks
 * @param incarnation of that server's process
 * @param sentAt its own clocks before sending; the grant returns it unchanged
 */
public record LeaseRequest(int slot, long incarnation, ClockReading sentAt) {}
