/** What landed in the backup log: applied to indexes in order; commit tracking; posting of segments. */
@NullMarked
package org.rowankv.server.digest;

import org.jspecify.annotations.NullMarked;
