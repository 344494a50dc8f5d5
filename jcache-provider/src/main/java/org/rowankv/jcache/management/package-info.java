/** What a cache counts, and its MXBeans. */
@NullMarked
package org.rowankv.jcache.management;

import org.jspecify.annotations.NullMarked;
