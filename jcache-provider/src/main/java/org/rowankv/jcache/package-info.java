/** The JSR-107 cache over the native client. */
@NullMarked
package org.rowankv.jcache;

import org.jspecify.annotations.NullMarked;
