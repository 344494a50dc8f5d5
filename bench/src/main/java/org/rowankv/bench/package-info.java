/** The command for measurements. */
@NullMarked
package org.rowankv.bench;

import org.jspecify.annotations.NullMarked;
