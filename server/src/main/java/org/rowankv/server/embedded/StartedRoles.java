package org.rowankv.server.embedded;

import org.rowankv.rdma.MembershipView;
import org.rowankv.topology.Configuration;

/**
 * The servers that may connect: those in the term that gave out the roles. Later terms, in which replicas become complete, change
 * neither roles nor incarnations.
 */
record StartedRoles(Configuration started) implements MembershipView {
    @Override
    public long term() {
        return started.term();
    }

    @Override
    public boolean admits(int serverId, long incarnation, long term) {
        return term == started.term()
                && serverId >= 0
                && serverId < started.serverCount()
                && started.incarnations().get(serverId) == incarnation;
    }
}
