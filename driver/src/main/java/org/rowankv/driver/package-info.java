/** The native client API and its results. The packages below contain connections and retries. */
@NullMarked
package org.rowankv.driver;

import org.jspecify.annotations.NullMarked;
