/** Evaluation of an {@link javax.cache.expiry.ExpiryPolicy} to lifetimes for the store. */
@NullMarked
package org.rowankv.jcache.expiry;

import org.jspecify.annotations.NullMarked;
