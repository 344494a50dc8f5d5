/** What has changed, for those that want to hear of it: the newest changes of each shard, in the order of their versions. */
@NullMarked
package org.rowankv.server.stream;

import org.jspecify.annotations.NullMarked;
