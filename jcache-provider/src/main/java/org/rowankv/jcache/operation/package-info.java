/** Cache operations on the native client: reads, mutations, bulk, invocations. Applications use the package above. */
@NullMarked
package org.rowankv.jcache.operation;

import org.jspecify.annotations.NullMarked;
