/** Completions: what a client's session was answered, so that a retry is applied at most once. */
@NullMarked
package org.rowankv.server.session;

import org.jspecify.annotations.NullMarked;
