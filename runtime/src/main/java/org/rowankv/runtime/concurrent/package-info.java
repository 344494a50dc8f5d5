/**
 * Small concurrent structures for several packages: slot pools, parking, histograms. A structure with one user belongs
 * to that user's package.
 */
@NullMarked
package org.rowankv.runtime.concurrent;

import org.jspecify.annotations.NullMarked;
