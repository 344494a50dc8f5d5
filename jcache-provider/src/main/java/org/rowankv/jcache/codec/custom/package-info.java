/** Codecs of values that applications bring. */
@NullMarked
package org.rowankv.jcache.codec.custom;

import org.jspecify.annotations.NullMarked;
