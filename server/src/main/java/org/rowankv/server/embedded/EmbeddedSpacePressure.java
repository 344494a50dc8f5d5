package org.rowankv.server.embedded;

import java.util.List;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.SpacePressure;

/**
 * Requests of a server to the others of an embedded store when space runs out. The list grows until all servers are
 * open.
 */
record EmbeddedSpacePressure(List<Server> servers) implements SpacePressure {
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
}
