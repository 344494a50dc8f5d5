/** Statistics of caches and their MXBeans. */
@NullMarked
package org.rowankv.jcache.management;

import org.jspecify.annotations.NullMarked;
