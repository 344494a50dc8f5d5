/** What ends an object's life without a request for its key: here the sweep behind a clear. */
@NullMarked
package org.rowankv.server.retention;

import org.jspecify.annotations.NullMarked;
