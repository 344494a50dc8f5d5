/** Reads and mutations on the primary: worker contexts and the state machine of a request. */
@NullMarked
package org.rowankv.server.request;

import org.jspecify.annotations.NullMarked;
