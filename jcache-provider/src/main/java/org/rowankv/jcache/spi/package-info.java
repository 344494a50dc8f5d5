/** The entry point for {@link javax.cache.Caching}. */
@NullMarked
package org.rowankv.jcache.spi;

import org.jspecify.annotations.NullMarked;
