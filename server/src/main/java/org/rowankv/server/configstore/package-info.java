/** Versioned nodes of the configuration, in memory and in files. The content of a configuration belongs to topology. */
@NullMarked
package org.rowankv.server.configstore;

import org.jspecify.annotations.NullMarked;
