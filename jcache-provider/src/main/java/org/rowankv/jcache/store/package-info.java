/** State shared by the caches of one store in one JVM, and the opening of stores; independent of their kind. */
@NullMarked
package org.rowankv.jcache.store;

import org.jspecify.annotations.NullMarked;
