/** The log: format of entries, segments and their life, appends, the scan. Who owns an entry is not known here. */
@NullMarked
package org.rowankv.server.log;

import org.jspecify.annotations.NullMarked;
