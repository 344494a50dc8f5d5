/** Checkers: linearizability per key, durability, convergence of replicas. */
@NullMarked
package org.rowankv.check;

import org.jspecify.annotations.NullMarked;
