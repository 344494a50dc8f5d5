/** Moves live entries out of segments with dead ones, and frees those segments. */
@NullMarked
package org.rowankv.server.cleaning;

import org.jspecify.annotations.NullMarked;
