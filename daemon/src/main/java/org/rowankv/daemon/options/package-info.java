/** Sources of option values beside the command line: environment, options file, secret files. The options stand elsewhere. */
@NullMarked
package org.rowankv.daemon.options;

import org.jspecify.annotations.NullMarked;
