/**
 * Agents and the threads that run them: scheduling, threading modes, idle waits. What an agent does belongs to its
 * own package.
 */
@NullMarked
package org.rowankv.runtime.agent;

import org.jspecify.annotations.NullMarked;
