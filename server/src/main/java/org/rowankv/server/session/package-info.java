/** Completions: what a client's session was answered, so that a retry takes effect once. */
@NullMarked
package org.rowankv.server.session;

import org.jspecify.annotations.NullMarked;
