/** From an {@link javax.cache.expiry.ExpiryPolicy} to lifetimes that travel to the store. */
@NullMarked
package org.rowankv.jcache.expiry;

import org.jspecify.annotations.NullMarked;
