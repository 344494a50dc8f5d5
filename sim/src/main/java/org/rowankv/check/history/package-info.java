/** Histories of single keys and the oracle that judges them ({@link org.rowankv.check.history.KeyHistoryChecker}). */
@NullMarked
package org.rowankv.check.history;

import org.jspecify.annotations.NullMarked;
