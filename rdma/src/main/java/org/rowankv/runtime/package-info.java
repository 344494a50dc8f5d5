/** What runs and what it runs on: agents, threading modes, clock, randomness, the counted error log. */
@NullMarked
package org.rowankv.runtime;

import org.jspecify.annotations.NullMarked;
