/** What an entry processor sees and what it wants done: nothing happens to the cache while it runs. */
@NullMarked
package org.rowankv.jcache.processor;

import org.jspecify.annotations.NullMarked;
