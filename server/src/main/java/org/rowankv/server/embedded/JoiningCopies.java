package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.function.IntPredicate;
import org.rowankv.server.engine.Server;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.server.resync.PresentEntries;

/**
 * Forwards the progress of copies to the joining servers. The list grows until all servers are open.
 *
 * @param complete stores that a server's replicas are complete; false to try again later
 */
record JoiningCopies(List<Server> servers, IntPredicate complete) implements CopyListener {
    @Override
    public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
        return servers.get(server).joining().announced(shard, epoch, bytes, destroyed);
    }

    @Override
    public boolean copied(int shard, int epoch, int server) {
        final boolean heard = servers.get(server).joining().copied(shard, epoch);
        servers.get(server).wakeUp();
        return heard;
    }

    @Override
    public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
        final Server asked = servers.get(server);
        return Inquiry.over(PresentEntries.presentIn(asked.replicas().get(shard), asked.segments(), question));
    }

    /** All of a server's at once: until then a start copies all anyway. */
    @Override
    public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
        return !servers.get(server).replicas().isJoining() && complete.test(server);
    }
}
