/** Versioned nodes of the configuration, in memory and in files. What the configuration says belongs to topology. */
@NullMarked
package org.rowankv.server.configstore;

import org.jspecify.annotations.NullMarked;
