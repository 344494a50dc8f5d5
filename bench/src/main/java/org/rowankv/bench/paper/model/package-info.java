/**
 * Discrete-event simulation of remote writes into one server: time in nanoseconds, random by seed, a network card, and
 * streams of writes. Every cost stands in {@link org.rowankv.bench.paper.model.Costs}. No product code, no threads.
 */
@NullMarked
package org.rowankv.bench.paper.model;

import org.jspecify.annotations.NullMarked;
