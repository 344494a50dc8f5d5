/** Objects to bytes and back: JDK value types in a format of our own, everything else by filtered Java serialization. */
@NullMarked
package org.rowankv.jcache.codec;

import org.jspecify.annotations.NullMarked;
