package org.rowankv.server.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.rowankv.runtime.Clock;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a server waits for the others of a start: as long as its term is current. Members that cannot be reached for
 * the time of {@code --start-wait}, and can be spared, end the term: the next start leaves them out, unless they register.
 * Used by the thread of the {@link ClusterServer}.
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
    /** By unreachable member: the first of the checks that found it so. */
    private final Map<Integer, Long> unreachableSinceNs = new HashMap<>();

    StartPatience(ClusterServer cluster, RoleTerm present, StoredRoles roles, WaitLog waitLog) {
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
        final Set<Integer> unreachable = present.silent();
        unreachable.removeIf(member -> present.lastRefusal(member).isEmpty());
        unreachableSinceNs.keySet().retainAll(unreachable);
        unreachable.forEach(member -> unreachableSinceNs.putIfAbsent(member, nowNs));
        final long waitNs = cluster.settings().startWaitMs() * 1_000_000;
        final Set<Integer> gone = new TreeSet<>();
        unreachableSinceNs.forEach((member, sinceNs) -> {
            if (nowNs - sinceNs >= waitNs) {
                gone.add(member);
            }
        });
        if (!gone.isEmpty() && canBeSpared(gone) && roles.supersede(present)) {
            LOG.info(
                    "coordinated restart requested: server={} cause=unreachable in a common start servers={}",
                    cluster.settings().name(),
                    gone.stream().map(roles.members().names()::get).toList());
        }
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
