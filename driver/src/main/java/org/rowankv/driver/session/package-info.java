/** Exactly-once for the client: lanes (sessions with request ids) and the retry of attempts whose reply was lost. */
@NullMarked
package org.rowankv.driver.session;

import org.jspecify.annotations.NullMarked;
