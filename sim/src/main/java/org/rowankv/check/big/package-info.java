/** The check of values in parts: many writers and readers of one key, whose processes are killed. */
@NullMarked
package org.rowankv.check.big;

import org.jspecify.annotations.NullMarked;
