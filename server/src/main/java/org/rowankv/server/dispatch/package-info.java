/** From a request to a worker context: shard, worker, state of the server. Independent of the protocol. */
@NullMarked
package org.rowankv.server.dispatch;

import org.jspecify.annotations.NullMarked;
