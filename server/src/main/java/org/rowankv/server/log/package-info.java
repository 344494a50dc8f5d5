/** The log: format of entries, segments and their life cycle, appends, the scan. Independent of the entries' owners. */
@NullMarked
package org.rowankv.server.log;

import org.jspecify.annotations.NullMarked;
