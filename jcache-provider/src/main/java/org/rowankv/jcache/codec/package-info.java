/** Encoding of objects: JDK value types in an own format, everything else in filtered Java serialization. */
@NullMarked
package org.rowankv.jcache.codec;

import org.jspecify.annotations.NullMarked;
