/** Pairs of keys that are equal and made differently, and of keys that are not. */
@NullMarked
package org.rowankv.check.keys;

import org.jspecify.annotations.NullMarked;
