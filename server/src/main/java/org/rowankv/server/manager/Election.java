package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.authority.Authority;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.Reach;
import org.rowankv.server.authority.StoreVersions;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The election of another manager: a member that misses the manager for longer than a lease, as most members do, stores
 * itself as the manager of the next term. The store decides between several.
 *
 * <p>It reads what it would supersede long before, again whenever the store changes. If that still is stored when it
 * stands, the store has confirmed no manager since that read, and the wait for former leases began with this server's
 * own last confirmation: see {@link org.rowankv.server.authority.CommitWait}.
 *
 * <p>For the thread that changes configurations.
 */
public final class Election {
    private static final Logger LOG = LoggerFactory.getLogger(Election.class);
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    /** A candidate of the next rank waits so much longer: a part of a lease. */
    private static final int RANKS = 8;

    private static final int PAIR = 2;

    private final int serverId;
    private final ClusterNodes nodes;
    private final LeaseAgent leases;
    private final Adoption adoption;
    private final ConfigurationManager.AdoptionThread adopting;
    private final ConfigurationManager manager;
    private final MemberRegistrations registrations;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    /** Whether there is no connection to a server, and the last attempt failed. */
    private final IntPredicate isUnreachable;

    /** Sent to the store, without a known outcome. */
    private @Nullable Configuration proposed;

    private @Nullable StoreVersions expected;
    /** Whether it has read the store since the manager is overdue. */
    private boolean hasReadOverdue;
    /** The term that it has seen in the store, which another is about to manage, and since when. */
    private long seenTerm;

    private long seenNs;

    @SuppressWarnings("TooManyParameters")
    public Election(
            int serverId,
            ClusterNodes nodes,
            LeaseAgent leases,
            Adoption adoption,
            ConfigurationManager.AdoptionThread adopting,
            ConfigurationManager manager,
            MemberRegistrations registrations,
            PeerCalls calls,
            PeerCalls.Patience patience,
            IntPredicate isUnreachable) {
        this.serverId = serverId;
        this.nodes = nodes;
        this.leases = leases;
        this.adoption = adoption;
        this.adopting = adopting;
        this.manager = manager;
        this.registrations = registrations;
        this.calls = calls;
        this.patience = patience;
        this.isUnreachable = isUnreachable;
    }

    /** Stands if that is due; returns whether this server was elected. */
    public boolean step() {
        if (leases.isManager()) {
            return false;
        }
        if (proposed != null) {
            return store(proposed);
        }
        if (leases.isRenewalOverdue()) {
            return stepOverdue();
        }
        hasReadOverdue = false;
        try {
            final ClusterNodes.Stored unused = read();
        } catch (ConfigurationStoreException e) {
            return false; // nothing is lost but time, if the manager is lost next
        }
        return false;
    }

    private boolean stepOverdue() {
        if (hasReadOverdue && !isDue(adoption.prepared())) {
            return false;
        }
        final ClusterNodes.Stored stored = read();
        hasReadOverdue = true;
        if (stored == null) {
            return false;
        }
        final Configuration present = stored.configuration();
        return isDue(present)
                && !isAwaited(present)
                && (leases.ungrantedNs() >= Reach.MINORITY_WAIT_NS || isMissedByMost(present))
                && stand(present);
    }

    /**
     * Whether the manager was silent for so long that this server, by its rank, may ask to replace it: until every lease
     * that it has granted is over; or, if its process cannot be connected, for half a lease.
     */
    private boolean isDue(Configuration present) {
        final LeaseTimes times = leases.times();
        final long patienceNs = isUnreachable.test(present.manager()) ? times.leaseNs() / 2 : times.oneLeaseNs();
        final int rank = Math.floorMod(serverId - present.manager(), present.serverCount()) - 1;
        return leases.ungrantedNs() >= patienceNs + rank * times.leaseNs() / RANKS;
    }

    /** Reads what would be superseded, so that silence counts from the first read of it. */
    private ClusterNodes.@Nullable Stored read() {
        final long votes = nodes.voteVersion();
        final ClusterNodes.Stored stored = nodes.configuration();
        final Configuration own = adoption.prepared();
        if (stored == null
                || !stored.configuration().hasManager()
                || stored.configuration().startTerm() != own.startTerm()
                || !stored.configuration().names(serverId, own.incarnations().get(serverId))) {
            return null; // this server starts anew
        }
        final StoreVersions versions = new StoreVersions(stored.version(), votes);
        final Electorate electorate = Electorate.of(stored.configuration());
        leases.change(now -> now.read(electorate, versions, leases.now()));
        expected = versions;
        return stored;
    }

    /** Whether another manager was elected meanwhile, and has time left to say so, or to begin a term above a promise. */
    private boolean isAwaited(Configuration present) {
        final long nowNs = leases.now().monotonicNs();
        if (present.term() != seenTerm) {
            seenTerm = present.term();
            seenNs = nowNs;
        }
        return present.term() > leases.authority().voter().preparedTerm()
                && nowNs - seenNs < 2 * leases.times().leaseNs();
    }

    /** Also by either of two: the store decides. */
    private boolean isMissedByMost(Configuration present) {
        final List<Integer> members = new ArrayList<>(present.members());
        members.removeIf(member ->
                registrations.incarnation(member) > present.incarnations().get(member)); // it has ended
        if (members.size() <= PAIR) {
            return true;
        }
        final List<PeerCalls.Call> asked = new ArrayList<>();
        for (int member : members) {
            if (member != serverId && member != present.manager()) {
                asked.add(calls.begin(member, PeerRequestType.HEARS_MANAGER, 0, 0, NOTHING));
            }
        }
        int missing = 1;
        final long untilNs = leases.now().monotonicNs() + leases.times().leaseNs() / 2;
        try {
            for (PeerCalls.Call call : asked) {
                final ByteBuffer answer = call.awaitWhile(() -> leases.now().monotonicNs() - untilNs < 0, patience);
                if (answer != null && PeerMessageDescriptor.argument(answer) == 0) {
                    missing++;
                }
            }
        } finally {
            asked.forEach(PeerCalls.Call::abandon);
        }
        return 2 * missing > members.size();
    }

    private boolean stand(Configuration present) {
        if (!leases.authority().mayStand()) {
            return false;
        }
        final Configuration without = present.excluding(Set.of(present.manager()), serverId);
        final Configuration next = without == null ? present.succeeded(serverId) : without;
        // While it asked, it may have prepared a term of another manager, or heard of the present one.
        final Authority standing = leases.change(now -> now.mayStand() && isDue(present)
                ? now.standing(without == null ? Set.of() : Set.of(present.manager()), leases.now())
                : now);
        if (standing.candidacy() == null || !standing.candidacy().isStanding()) {
            return false;
        }
        LOG.info("Configuration manager stands server={} term={} members={}", serverId, next.term(), next.members());
        proposed = next;
        return store(next);
    }

    private boolean store(Configuration next) {
        final StoreVersions versions = Objects.requireNonNull(expected);
        final boolean done;
        try {
            done = nodes.decide(next, versions.configuration(), versions.vote());
        } catch (ConfigurationStoreException e) {
            return false; // it may have been stored, or will be: sent again
        }
        final ClusterNodes.Stored found = done ? null : nodes.configuration();
        proposed = null;
        if (found != null && !found.configuration().equals(next)) {
            leases.change(Authority::notElected);
            return false;
        }
        if (!done && found == null) {
            leases.change(Authority::notElected);
            return false;
        }
        if (!adopting.run(() -> adoption.prepare(next))) {
            leases.change(Authority::notElected);
            return false;
        }
        if (leases.change(Authority::elected).manager() == null) {
            return false; // it has promised a later term meanwhile
        }
        LOG.info("Configuration manager elected server={} term={} members={}", serverId, next.term(), next.members());
        manager.manage(next, false);
        return true;
    }
}
