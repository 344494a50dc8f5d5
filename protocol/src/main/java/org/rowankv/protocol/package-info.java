/** What a request means: operations, conditions, status codes, versions. Neither bytes on a wire nor connections. */
@NullMarked
package org.rowankv.protocol;

import org.jspecify.annotations.NullMarked;
