/**
 * Figures and tables of the paper's evaluation, from the models: their points, what is expected of them, and how they
 * are written. Every result here is one of a model, never of the product.
 */
@NullMarked
package org.rowankv.bench.paper.figure;

import org.jspecify.annotations.NullMarked;
