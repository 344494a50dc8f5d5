/** The log: the format of entries, segments and their life, single-writer logs, and the scan. */
@NullMarked
package org.rowankv.server.log;

import org.jspecify.annotations.NullMarked;
