/**
 * Small concurrent structures for several packages: slot pools, waiting, histograms. A structure with one user
 * belongs to that user.
 */
@NullMarked
package org.rowankv.runtime.concurrent;

import org.jspecify.annotations.NullMarked;
