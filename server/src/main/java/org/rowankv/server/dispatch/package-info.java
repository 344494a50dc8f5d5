/** From a request to a worker context: which shard, which worker, which state of the server. No protocol. */
@NullMarked
package org.rowankv.server.dispatch;

import org.jspecify.annotations.NullMarked;
