/**
 * What the caches of one store in one JVM share, and how stores are opened. Neither embedded nor remote in
 * particular.
 */
@NullMarked
package org.rowankv.jcache.store;

import org.jspecify.annotations.NullMarked;
