package org.rowankv.server.manager;

import java.util.function.Consumer;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.Area;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a server that runs follows the configurations of its manager. It prepares one: the term is durable, and nothing of
 * a server that is not named lands any more. It commits to it when the manager says that all have prepared and that the
 * leases of the excluded are over: then its roles are in force.
 *
 * <p>For one thread at a time, which may wait for the device.
 */
public final class Adoption {
    private static final Logger LOG = LoggerFactory.getLogger(Adoption.class);

    private static final long PAUSE_NS = 1_000_000;

    private final int serverId;
    private final long incarnation;
    private final Area area;
    private final Server server;
    private final Scheduling scheduling;
    private final LeaseAgent leases;
    private final Consumer<Configuration> view;
    private final Consumer<Configuration> routing;
    private volatile Configuration prepared;
    private volatile Configuration committed;

    /**
     * @param first that it has prepared and committed, or is joining
     * @param view receives each prepared configuration before the fence: from then on no others connect
     * @param routing receives each configuration in force, and again when shards were opened
     */
    public Adoption(
            int serverId,
            long incarnation,
            Area area,
            Server server,
            Scheduling scheduling,
            LeaseAgent leases,
            Configuration first,
            Consumer<Configuration> view,
            Consumer<Configuration> routing) {
        this.serverId = serverId;
        this.incarnation = incarnation;
        this.area = area;
        this.server = server;
        this.scheduling = scheduling;
        this.leases = leases;
        this.view = view;
        this.routing = routing;
        this.prepared = first;
        this.committed = first;
    }

    /** The newest configuration that it has prepared. Any thread. */
    public Configuration prepared() {
        return prepared;
    }

    /** The configuration whose roles are in force. Any thread. */
    public Configuration committed() {
        return committed;
    }

    /** Prepares a stored configuration; returns whether it is prepared now, and by which it must be followed. */
    public boolean prepare(Configuration next) {
        final Configuration before = prepared;
        if (next.term() <= before.term()) {
            return next.equals(before) && isPreparedByVoter(next);
        }
        if (next.startTerm() != before.startTerm() || !next.names(serverId, incarnation)) {
            return false; // it restarts, or is excluded
        }
        final Electorate stored = Electorate.of(next);
        final boolean isOwn = next.manager() == serverId;
        if (!isOwn && !leases.authority().mayPrepare(stored)) {
            return false;
        }
        area.superblock().adoptTerm(next.term());
        while (!server.joining().join(next)) { // its agents have to run
            if (server.isStopped()) {
                return false;
            }
            server.wakeUp();
            scheduling.park(PAUSE_NS);
        }
        view.accept(next);
        for (int other = 0; other < before.serverCount(); other++) {
            if (other != serverId
                    && before.isMember(other)
                    && !next.names(other, before.incarnations().get(other))) {
                server.roleChanges().exclude(other);
            }
        }
        prepared = next;
        server.roleChanges().prepared(next);
        if (isOwn) {
            return true; // its authority follows when it knows the outcome
        }
        leases.change(now -> now.mayPrepare(stored) ? now.preparing(stored) : now);
        return isPreparedByVoter(next);
    }

    /** Its promise of a later term may have come between: then it follows that manager in none but a later one. */
    private boolean isPreparedByVoter(Configuration next) {
        return leases.authority().voter().preparedTerm() == next.term();
    }

    /** Puts the roles of the prepared configuration in force; returns whether they are. */
    public boolean commit(long term) {
        final Configuration next = prepared;
        if (next.term() != term) {
            return committed.term() >= term;
        }
        if (leases.change(now -> now.committing(term)).committed() != term) {
            return false;
        }
        if (committed.term() < term) {
            server.roleChanges().committed(next);
            committed = next;
            routing.accept(next);
            LOG.info(
                    "Configuration in force term={} manager={} members={} primaries={}",
                    term,
                    next.manager(),
                    next.members(),
                    next.primariesOf(serverId).size());
        }
        return true;
    }
}
