/** The benchmark command. */
@NullMarked
package org.rowankv.bench;

import org.jspecify.annotations.NullMarked;
