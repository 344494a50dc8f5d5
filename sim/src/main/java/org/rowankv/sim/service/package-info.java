/** What goes on in simulations beside the clients' requests, and the judges of it: change streams, leases, copies, waiting callers. */
@NullMarked
package org.rowankv.sim.service;

import org.jspecify.annotations.NullMarked;
