/** Requests over TCP: connections, routing by the shard map, calls. Repeats no request of unknown outcome. */
@NullMarked
package org.rowankv.driver.net;

import org.jspecify.annotations.NullMarked;
