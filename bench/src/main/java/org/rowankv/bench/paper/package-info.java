/** The paper's evaluation as a command: {@code rowan bench paper}. */
@NullMarked
package org.rowankv.bench.paper;

import org.jspecify.annotations.NullMarked;
