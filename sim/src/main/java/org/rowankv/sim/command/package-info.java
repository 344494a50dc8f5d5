/** The command {@code rowan sim}: what each seed simulates, and runs of many seeds. Simulates nothing itself. */
@NullMarked
package org.rowankv.sim.command;

import org.jspecify.annotations.NullMarked;
