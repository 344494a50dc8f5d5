/** The native client API and its results. Connections and retries belong to the packages below. */
@NullMarked
package org.rowankv.driver;

import org.jspecify.annotations.NullMarked;
