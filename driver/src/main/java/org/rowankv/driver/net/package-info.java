/** Requests over TCP: connections, routing by the shard map, calls. Repeats nothing whose outcome is unknown. */
@NullMarked
package org.rowankv.driver.net;

import org.jspecify.annotations.NullMarked;
