/** What ends an object's life without a request for its key: the sweep behind a clear, and the one for what has expired. */
@NullMarked
package org.rowankv.server.retention;

import org.jspecify.annotations.NullMarked;
