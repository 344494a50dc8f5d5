package org.rowankv.server.embedded;

import java.util.List;
import java.util.function.IntPredicate;
import org.rowankv.server.engine.Server;
import org.rowankv.server.resync.CopyListener;

/**
 * Forwards the progress of copies to the joining servers. The list grows until all servers are open.
 *
 * @param complete stores that a server's replicas are complete; false to try again later
 */
record JoiningCopies(List<Server> servers, IntPredicate complete) implements CopyListener {
    @Override
    public void announced(int shard, int server, long bytes) {
        servers.get(server).joining().announced(bytes);
    }

    @Override
    public void copied(int shard, int server, long unused) {
        servers.get(server).joining().copied(shard, unused);
        servers.get(server).wakeUp();
    }

    @Override
    public boolean joined(int server) {
        return complete.test(server);
    }
}
