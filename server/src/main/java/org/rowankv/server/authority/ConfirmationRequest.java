package org.rowankv.server.authority;

/**
 * A manager's question to a voter: is there no later term? Immutable. Only the manager of that term may send it, from
 * the incarnation that the term names; so what it says of the term needs no proof.
 *
 * @param term the stored term of which the sender is the manager
 * @param slot of the voter
 * @param incarnation of the voter, as that term names it
 * @param sentAt the manager's clocks before sending; the answer returns it unchanged
 */
public record ConfirmationRequest(long term, int slot, long incarnation, ClockReading sentAt) {}
