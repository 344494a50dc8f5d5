package org.rowankv.server.embedded;

import java.util.List;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.SpacePressure;

/** What a server of an embedded store asks of the others, when space runs out. The list grows until all are there. */
record EmbeddedSpacePressure(List<Server> servers) implements SpacePressure {
    @Override
    public void wakeUp(int server) {
        servers.get(server).wakeUp();
    }

    @Override
    public void requestSpace(int server) {
        final boolean unused = releaseGrants();
        servers.forEach(Server::endExpired);
        servers.get(server).requestSpace();
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        for (int server = 0; server < servers.size(); server++) {
            if (servers.get(server).isExpiring(sinceNs)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public long quietCycles(int server) {
        return servers.get(server).quietCycles();
    }

    /** What workers have drawn ahead of entries; false while there is a worker that is not idle. */
    boolean releaseGrants() {
        boolean allIdle = true;
        for (Server server : servers) {
            allIdle &= server.releaseGrants();
        }
        return allIdle;
    }
}
