/** Client sessions and their completions: responses, kept so that a retry takes effect once. */
@NullMarked
package org.rowankv.server.session;

import org.jspecify.annotations.NullMarked;
