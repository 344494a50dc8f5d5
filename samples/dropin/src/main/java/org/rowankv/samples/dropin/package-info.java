/** The Spring sample, unchanged, on Ehcache and on Rowan-KV: {@code rowan demo dropin}. */
@NullMarked
package org.rowankv.samples.dropin;

import org.jspecify.annotations.NullMarked;
