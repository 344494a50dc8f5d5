/** The data path: worker contexts that carry requests to their end on the primary. */
@NullMarked
package org.rowankv.server.request;

import org.jspecify.annotations.NullMarked;
