/**
 * Agents and the threads that run them: scheduling, threading modes, idle strategies. The work of an agent belongs to
 * its own package.
 */
@NullMarked
package org.rowankv.runtime.agent;

import org.jspecify.annotations.NullMarked;
