/** Values of caches by Kryo. */
@NullMarked
package org.rowankv.kryo;

import org.jspecify.annotations.NullMarked;
