/** The door that {@link javax.cache.Caching} finds. */
@NullMarked
package org.rowankv.jcache.spi;

import org.jspecify.annotations.NullMarked;
