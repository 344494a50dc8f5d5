package org.rowankv.server.cluster;

import java.util.concurrent.TimeUnit;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.Members;
import org.rowankv.server.peer.PeerCalls;

/**
 * While a server waits for others during a start: checks periodically whether the term is still current, and reports
 * which servers it waits for. For the thread of the {@link ClusterServer}.
 */
final class StartPatience implements PeerCalls.Patience {
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private final PeerCalls.Patience goesOn;
    private final RoleTerm present;
    private final StoredRoles roles;
    private final ClusterContext context;
    private final WaitLog waitLog;
    private long checkedNs;

    /** @param goesOn whether the server itself does */
    StartPatience(
            PeerCalls.Patience goesOn, RoleTerm present, StoredRoles roles, ClusterContext context, WaitLog waitLog) {
        this.goesOn = goesOn;
        this.present = present;
        this.roles = roles;
        this.context = context;
        this.waitLog = waitLog;
        this.checkedNs = context.clock().nanoTime() - CHECK_NS;
    }

    @Override
    public void check() {
        goesOn.check();
        final long nowNs = context.clock().nanoTime();
        if (nowNs - checkedNs < CHECK_NS) {
            return;
        }
        checkedNs = nowNs;
        try {
            roles.requireUnchanged(present);
            reportSilentServers(roles.members());
        } catch (ConfigurationStoreException e) {
            waitLog.waits("the configuration store is unreachable", ": " + e.getMessage());
        }
    }

    private void reportSilentServers(Members members) {
        final StringBuilder names = new StringBuilder();
        final StringBuilder why = new StringBuilder();
        for (int server : present.silent()) {
            final String name = members.names().get(server);
            names.append(names.isEmpty() ? " server " : ", server ").append(name);
            final HostAndPort address = context.addresses().of(server);
            names.append(address == null ? "" : " at " + address);
            final String refusal = present.lastRefusal(server);
            why.append(refusal.isEmpty() ? "" : "; last refusal by " + name + ": " + refusal);
        }
        waitLog.waits(
                "reconciling logs with the other servers" + (names.isEmpty() ? "" : "; waiting for" + names),
                why.toString());
    }
}
