package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.SpacePressure;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.server.resync.PresentEntries;

/**
 * What the servers of one process say to each other, by direct calls. The list grows until all servers are open.
 *
 * @param manager to which they report
 */
record InProcessPeers(List<Server> servers, EmbeddedConfigurationManager manager)
        implements SpacePressure, CopyListener {

    /** Ways for the messages of openings, which are received behind the call. */
    void connect() {
        for (Server server : servers) {
            final int from = server.serverId();
            server.roleChanges()
                    .openings()
                    .use((to, message) ->
                            servers.get(to).roleChanges().openings().received(from, message));
        }
    }

    // --- space ---

    @Override
    public void wakeUp(int server) {
        servers.get(server).wakeUp();
    }

    @Override
    public void requestSpace(int server) {
        final boolean unused = releaseGrants();
        servers.forEach(each -> each.spaceRequests().endExpired());
        servers.get(server).spaceRequests().requestSpace();
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        for (int server = 0; server < servers.size(); server++) {
            if (servers.get(server).spaceRequests().isExpiring(sinceNs)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public long quietCycles(int server) {
        return servers.get(server).quietCycles();
    }

    /** Releases space that workers have reserved in advance; false while any worker is not idle. */
    boolean releaseGrants() {
        boolean allIdle = true;
        for (Server server : servers) {
            allIdle &= server.spaceRequests().releaseGrants();
        }
        return allIdle;
    }

    // --- copies ---

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

    @Override
    public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
        return manager.completed(server, epochs);
    }
}
