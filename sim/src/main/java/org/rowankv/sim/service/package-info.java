/**
 * Simulated activities beside the clients' requests, and their checkers: change streams, leases, copies, blocking
 * callers.
 */
@NullMarked
package org.rowankv.sim.service;

import org.jspecify.annotations.NullMarked;
