/** Histories of single keys and the oracle that checks them ({@link org.rowankv.check.history.KeyHistoryChecker}). */
@NullMarked
package org.rowankv.check.history;

import org.jspecify.annotations.NullMarked;
