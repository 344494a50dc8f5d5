package org.rowankv.server.cluster;

import java.util.List;
import java.util.Set;
import org.rowankv.runtime.Clock;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a server waits for the others of a start: as long as its term is current. Members that cannot be reached for
 * the time of {@code --start-wait}, and can be spared, end the term: the next start leaves them out, unless they register;
 * the one after that in any case. Used by the thread of the {@link ClusterServer}.
 */
final class StartPatience implements PeerCalls.Patience {
    private static final Logger LOG = LoggerFactory.getLogger(StartPatience.class);

    private final ClusterServer cluster;
    private final PeerCalls.Patience whileOpen;
    private final RoleTerm present;
    private final StoredRoles roles;
    private final WaitLog waitLog;
    private final Clock clock;
    private long checkedNs;
    private final UnreachableMembers unreachable;

    StartPatience(
            ClusterServer cluster,
            RoleTerm present,
            StoredRoles roles,
            WaitLog waitLog,
            UnreachableMembers unreachable) {
        this.unreachable = unreachable;
        unreachable.begin();
        this.cluster = cluster;
        this.whileOpen = cluster.patienceWhileOpen();
        this.present = present;
        this.roles = roles;
        this.waitLog = waitLog;
        this.clock = cluster.context().clock();
        this.checkedNs = clock.nanoTime();
    }

    @Override
    public void check() {
        whileOpen.check();
        final long nowNs = clock.nanoTime();
        if (nowNs - checkedNs < ClusterServer.POLL_WHILE_SERVING_MS * 1_000_000) {
            return;
        }
        checkedNs = nowNs;
        try {
            roles.requireUnchanged(present);
            leaveOutUnreachable(nowNs);
            reportSilent();
        } catch (ConfigurationStoreException e) {
            waitLog.waits("the configuration store is unreachable", ": " + e.getMessage());
        }
    }

    private void leaveOutUnreachable(long nowNs) {
        // The manager of the start asks every member to confirm its authority, and each member asks it for a lease: one
        // of them finds that a dead one does not accept connections.
        final Set<Integer> refusing = present.silent();
        refusing.removeIf(member -> present.lastRefusal(member).isEmpty());
        final Set<Integer> gone = unreachable.gone(refusing, nowNs);
        final Set<Integer> leftOut = unreachable.again(gone);
        if (!gone.isEmpty() && canBeSpared(gone) && roles.supersede(present, leftOut)) {
            unreachable.ended(gone);
            LOG.info(
                    "coordinated restart requested: server={} cause=unreachable in a common start servers={} without={}",
                    cluster.settings().name(),
                    names(gone),
                    names(leftOut));
        }
    }

    private List<String> names(Set<Integer> servers) {
        return servers.stream().map(roles.members().names()::get).toList();
    }

    private boolean canBeSpared(Set<Integer> gone) {
        final Configuration own = present.configuration();
        return own != null && own.startTerm() == own.term() && own.restarted(own.incarnations(), gone, 1) != null;
    }

    private void reportSilent() {
        final StringBuilder names = new StringBuilder();
        final StringBuilder why = new StringBuilder();
        for (int server : present.silent()) {
            final String name = roles.members().names().get(server);
            names.append(names.isEmpty() ? " server " : ", server ").append(name);
            final HostAndPort address = cluster.context().addresses().of(server);
            names.append(address == null ? "" : " at " + address);
            final String refusal = present.lastRefusal(server);
            why.append(refusal.isEmpty() ? "" : "; last refusal by " + name + ": " + refusal);
        }
        waitLog.waits(
                "reconciling logs with the other servers" + (names.isEmpty() ? "" : "; waiting for" + names),
                why.toString());
    }
}
