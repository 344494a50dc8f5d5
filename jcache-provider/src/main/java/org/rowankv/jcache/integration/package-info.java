/** Adapters of the user's loader and writer, and the background threads. */
@NullMarked
package org.rowankv.jcache.integration;

import org.jspecify.annotations.NullMarked;
