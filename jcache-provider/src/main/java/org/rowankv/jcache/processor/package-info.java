/** The entry of an entry processor and its recorded effect; the cache does not change while it runs. */
@NullMarked
package org.rowankv.jcache.processor;

import org.jspecify.annotations.NullMarked;
