package org.rowankv.server.authority;

/**
 * The manager's answer to a {@link LeaseRequest}. Immutable.
 *
 * @param term the manager's
 * @param request what is granted; the lease counts from its sending
 */
public record LeaseGrant(long term, LeaseRequest request) {}
