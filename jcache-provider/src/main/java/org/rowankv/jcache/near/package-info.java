/** Decoded values in this JVM that the store proves current at each use. */
@NullMarked
package org.rowankv.jcache.near;

import org.jspecify.annotations.NullMarked;
