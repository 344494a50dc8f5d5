package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.authority.Authority;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.TransferRequest;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration manager (§4.3 of the paper), on the server that the configuration names: excludes members that
 * cannot be heard or that have started anew, adds servers that return, records copies that became complete, and hands
 * primaries over where that is asked for, or where one is about to stop. It stores the next configuration, lets all
 * members prepare it, waits for the leases of the excluded, and lets all commit.
 *
 * <p>Every step may be repeated, and another manager continues from the stored configuration. While the store is
 * unreachable nothing changes, and operations go on.
 *
 * <p>For the thread that changes configurations.
 */
public final class ConfigurationManager {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigurationManager.class);
    private static final long PAUSE_NS = 1_000_000;
    private static final long UNKNOWN = -2;
    /** A server that returns sooner is not replaced. */
    private static final long COPY_AFTER_NS = 10_000_000_000L;

    private static final long RENEW_AGAIN_NS = 1_000_000_000;
    /** So long the next change waits: its messages and what the store does would delay the next primaries' openings. */
    private static final long HAND_OVER_NS = 20_000_000;

    private final int serverId;
    private final int replicas;
    private final ClusterNodes nodes;
    private final LeaseAgent leases;
    private final Adoption adoption;
    private final AdoptionThread adopting;
    private final DueChanges due;
    private final MemberRegistrations registrations;
    private final Departures departures;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    private final Scheduling scheduling;
    private final TransferAnswers answers = new TransferAnswers() {
        @Override
        public void done(TransferRequest request) {
            final boolean unused = nodes.remove(request);
        }

        @Override
        public void refused(TransferRequest request, String why) {
            nodes.refuse(request, why);
        }
    };

    /** What it manages; null while it is not the manager. */
    private @Nullable Configuration stored;
    /** Of the node with it. */
    private long version = UNKNOWN;
    /** Sent to the store, without a known outcome. */
    private @Nullable Configuration pending;
    /** Whether all members have the roles of {@code stored} in force. */
    private boolean settled;
    /** Whether {@code stored} hands shards over. */
    private boolean handsOver;

    private final ReturnPauses pauses = new ReturnPauses();
    /** Transfers that are asked for, as read last. */
    private final List<TransferRequest> transfers = new ArrayList<>();

    private String saying = "";
    private long lackingSinceNs;
    private long renewedNs;

    /** Runs the steps of the adoption, one after the other, and waits for their ends. */
    public interface AdoptionThread {
        boolean run(BooleanSupplier step);
    }

    /** @param replicas of each shard, if there are servers for them */
    @SuppressWarnings("TooManyParameters")
    public ConfigurationManager(
            int serverId,
            int replicas,
            ClusterNodes nodes,
            LeaseAgent leases,
            Adoption adoption,
            AdoptionThread adopting,
            DueChanges due,
            MemberRegistrations registrations,
            Departures departures,
            PeerCalls calls,
            PeerCalls.Patience patience,
            Scheduling scheduling) {
        this.serverId = serverId;
        this.replicas = replicas;
        this.nodes = nodes;
        this.leases = leases;
        this.adoption = adoption;
        this.adopting = adopting;
        this.due = due;
        this.registrations = registrations;
        this.departures = departures;
        this.calls = calls;
        this.patience = patience;
        this.scheduling = scheduling;
        this.lackingSinceNs = leases.now().monotonicNs();
        this.renewedNs = lackingSinceNs - RENEW_AGAIN_NS;
    }

    /** What it waits for; empty if nothing. */
    public String saying() {
        return saying;
    }

    /** Reads what it is asked for in the store. */
    public void readRequests() {
        if (leases.isManager()) {
            final List<TransferRequest> found = nodes.transfers();
            transfers.clear();
            transfers.addAll(found);
        }
    }

    /** Begins to manage a configuration that is stored, which this server has been elected by, or started with. */
    void manage(Configuration own, boolean isSettled) {
        if (stored == null) {
            lackingSinceNs = leases.now().monotonicNs();
        }
        stored = own;
        version = UNKNOWN;
        pending = null;
        settled = isSettled;
        handsOver = false;
    }

    /** Performs what is due, if this server is the manager; returns whether there may be more to do at once. */
    public boolean step() {
        if (!leases.isManager()) {
            stored = null;
            pending = null;
            saying = ""; // what it waited for is the next manager's
            return false;
        }
        final Configuration present = stored;
        if (present == null) {
            manage(adoption.prepared(), true);
            return true;
        }
        if (leases.needsStoreVote()) {
            vote(present);
            if (stored == null) {
                return false; // another configuration is stored
            }
        }
        if (pending != null) {
            return store(pending);
        }
        final Configuration next = next(present);
        if (next != null) {
            return propose(next);
        }
        return !settled && settle(present);
    }

    // --- what changes ---

    private @Nullable Configuration next(Configuration present) {
        saying = "";
        final Set<Integer> gone = gone(present);
        final Configuration without = gone.isEmpty() ? null : withoutGone(present, gone);
        if (without != null) {
            return without;
        }
        if (leases.isOutbid()) {
            return present.succeeded(serverId);
        }
        if (!settled || !gone.isEmpty()) {
            return null;
        }
        final Configuration completed = due.completed(present);
        if (completed != null) {
            return completed;
        }
        final Configuration handedOver = DueChanges.handedOver(
                present, transfers, departures.servers(present, leases.now().monotonicNs()), answers);
        if (handedOver != null) {
            return handedOver;
        }
        final Configuration relieved =
                departures.next(present, replicas, leases.now().monotonicNs());
        if (relieved != null) {
            Chaos.point("leave.step");
            return relieved;
        }
        final Configuration returned = withReturned(present);
        if (returned != null) {
            return returned;
        }
        final Configuration renewed = withRenewed(present);
        return renewed == null ? withReplaced(present) : renewed;
    }

    /** With larger epochs of the shards whose versions come to their end. Not often, whatever a server reports. */
    private @Nullable Configuration withRenewed(Configuration present) {
        final long nowNs = leases.now().monotonicNs();
        final Configuration renewed = nowNs - renewedNs < RENEW_AGAIN_NS ? null : due.renewed(present);
        if (renewed != null) {
            renewedNs = nowNs;
        }
        return renewed;
    }

    /**
     * Members take over the replicas that shards lack: those of servers that stay away after a while, and at once when
     * no server is away. While some are about to stop, only those of shards that would be lost without them, at once.
     */
    private @Nullable Configuration withReplaced(Configuration present) {
        final boolean isCopying =
                present.shards().stream().anyMatch(shard -> !shard.joining().isEmpty());
        final Set<Integer> leaving = departures.leaving(present, leases.now().monotonicNs());
        final Configuration filled = isCopying
                ? null
                : present.filled(
                        replicas, leaving, shard -> leaving.isEmpty() || Departures.isLostWithout(shard, leaving));
        if (filled == null || filled.shards().equals(present.shards())) {
            lackingSinceNs = leases.now().monotonicNs();
            return null;
        }
        final boolean isWhole = present.members().size() == present.serverCount();
        return isWhole || !leaving.isEmpty() || leases.now().monotonicNs() - lackingSinceNs >= COPY_AFTER_NS
                ? filled
                : null;
    }

    private Set<Integer> gone(Configuration present) {
        final Set<Integer> gone = new TreeSet<>(leases.silent(leases.times().leaseNs()));
        gone.addAll(restarted(present));
        gone.retainAll(present.members());
        return gone;
    }

    private Set<Integer> restarted(Configuration present) {
        final Set<Integer> restarted = new TreeSet<>();
        for (int member : present.members()) {
            if (member != serverId
                    && registrations.incarnation(member)
                            > present.incarnations().get(member)) {
                restarted.add(member);
            }
        }
        return restarted;
    }

    /** All of them, or those that can be spared. */
    private @Nullable Configuration withoutGone(Configuration present, Set<Integer> gone) {
        lackingSinceNs = leases.now().monotonicNs();
        final Configuration next = present.excluding(gone, serverId);
        if (next != null) {
            return next;
        }
        for (int server : gone) {
            final Configuration without = present.excluding(Set.of(server), serverId);
            if (without != null) {
                return without;
            }
        }
        saying = "servers " + gone + " are away, and hold the only complete replicas of some shards";
        return restarted(present).isEmpty() ? null : present.superseded();
    }

    /** It gets replicas when it has the roles of that configuration in force: until then nothing waits for it. */
    private @Nullable Configuration withReturned(Configuration present) {
        for (int server = 0; server < present.serverCount(); server++) {
            final long registered = registrations.incarnation(server);
            if (present.isMember(server) || registered <= present.incarnations().get(server)) {
                continue;
            }
            final String whyNot = pauses.whyNot(server, leases.now().monotonicNs());
            if (whyNot == null) {
                leases.awaitArrival(server);
                return present.adding(server, registered);
            }
            saying = whyNot;
        }
        return null;
    }

    // --- storing it ---

    private boolean propose(Configuration next) {
        if (!readVersion()) {
            return false;
        }
        if (next.hasManager()) {
            final Electorate proposed = Electorate.of(next);
            final Authority after = leases.change(
                    now -> now.manager() == null ? now : now.with(now.managing().proposing(proposed, leases.now())));
            if (after.manager() == null) {
                return false;
            }
        }
        LOG.info(
                "Configuration proposed term={} members={} was={}",
                next.term(),
                next.members(),
                Objects.requireNonNull(stored).members());
        pending = next;
        return store(next);
    }

    /** Reads the version of the node, which only this manager changes. */
    private boolean readVersion() {
        final Configuration own = Objects.requireNonNull(stored);
        if (version != UNKNOWN) {
            return true;
        }
        final ClusterNodes.Stored found = nodes.configuration();
        if (found == null) {
            saying = "the configuration store has lost the configuration";
            return false;
        }
        if (!found.configuration().equals(own)) {
            lost(found.configuration());
            return false;
        }
        version = found.version();
        return true;
    }

    private void lost(Configuration other) {
        LOG.info("Configuration manager superseded: stored term={} manager={}", other.term(), other.manager());
        leases.change(Authority::superseded);
        stored = null;
        pending = null;
    }

    /** Sends it again and again until the outcome is known: an attempt that failed may be applied later. */
    private boolean store(Configuration next) {
        final boolean done;
        try {
            done = nodes.decide(next, version);
        } catch (ConfigurationStoreException e) {
            saying = "the configuration store is unreachable: " + e.getMessage();
            return false;
        }
        if (!done) {
            final ClusterNodes.Stored found = nodes.configuration();
            if (found == null || !found.configuration().equals(next)) {
                if (found != null) {
                    lost(found.configuration());
                }
                return false;
            }
        }
        if (!next.hasManager()) {
            lost(next); // a common start follows
            return true;
        }
        pauses.follow(
                Objects.requireNonNull(stored), next, departures, leases.now().monotonicNs());
        final boolean isHandOver = next.handsOver(Objects.requireNonNull(stored));
        manage(next, false);
        handsOver = isHandOver;
        if (!adopting.run(() -> adoption.prepare(next))) {
            lost(next);
            return false;
        }
        leases.change(now -> now.manager() == null ? now : now.written());
        return true;
    }

    private void vote(Configuration present) {
        try {
            if (readVersion()) {
                final var before = leases.now();
                final boolean accepted = nodes.vote(version);
                leases.change(now -> now.manager() == null
                        ? now
                        : now.with(now.managing().storeAnswered(present.term(), accepted, before, leases.now())));
            }
        } catch (ConfigurationStoreException e) {
            saying = "the configuration store is unreachable: " + e.getMessage();
        }
    }

    // --- until all have it in force ---

    private boolean settle(Configuration present) {
        final Set<Integer> prepared =
                askMembers(present, PeerRequestType.PREPARE, 0, ByteBuffer.wrap(ConfigurationCodec.encode(present)));
        if (prepared == null) {
            return false;
        }
        for (int member : prepared) {
            leases.change(now -> now.manager() == null
                    ? now
                    : now.with(now.managing()
                            .preparedBy(member, present.incarnations().get(member))));
        }
        while (remainingNs() > 0) {
            if (!goesOn(present)) {
                return false;
            }
            patience.check();
            scheduling.park(Math.min(remainingNs(), 5 * PAUSE_NS));
        }
        if (!leases.isManager() || !adopting.run(() -> adoption.commit(present.term()))) {
            return false;
        }
        if (askMembers(present, PeerRequestType.COMMIT, present.term(), ByteBuffer.allocate(0)) == null) {
            return false;
        }
        settled = true;
        if (handsOver) {
            scheduling.park(HAND_OVER_NS);
        }
        return true;
    }

    private long remainingNs() {
        final Authority now = leases.authority();
        return now.manager() == null ? 0 : now.manager().commitRemainingNs(leases.now(), leases.times());
    }

    /** Whether all members of the configuration can still be heard and may prepare it, and this server manages it. */
    private boolean goesOn(Configuration present) {
        if (leases.needsStoreVote()) {
            vote(present);
        }
        return leases.isManager() && !leases.isOutbid() && gone(present).isEmpty();
    }

    /** Asks all other members, and waits for their answers; null if that is in vain: see {@link #goesOn}. */
    private @Nullable Set<Integer> askMembers(Configuration present, int question, long argument, ByteBuffer payload) {
        final List<PeerCalls.Call> asked = new ArrayList<>();
        final Set<Integer> answered = new HashSet<>();
        try {
            for (int member : present.members()) {
                if (member != serverId) {
                    asked.add(calls.begin(member, question, 0, argument, payload.duplicate()));
                }
            }
            for (PeerCalls.Call call : asked) {
                if (call.awaitWhile(() -> goesOn(present), patience) == null) {
                    return null;
                }
                answered.add(call.server());
            }
            return answered;
        } finally {
            asked.forEach(PeerCalls.Call::abandon);
        }
    }
}
