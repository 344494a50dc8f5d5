package org.rowankv.server.cluster;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.area.Area;
import org.rowankv.server.authority.CommitWait;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.Grants;
import org.rowankv.server.authority.ManagerTerm;
import org.rowankv.server.authority.Votes;
import org.rowankv.server.engine.EpochSupplier;
import org.rowankv.server.engine.Server;
import org.rowankv.server.manager.Adoption;
import org.rowankv.server.manager.ConfigurationManager;
import org.rowankv.server.manager.ControlMessages;
import org.rowankv.server.manager.CopyMessages;
import org.rowankv.server.manager.Departures;
import org.rowankv.server.manager.DueChanges;
import org.rowankv.server.manager.Election;
import org.rowankv.server.manager.LeaseAgent;
import org.rowankv.server.manager.ReportMessages;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.peer.PeerCalls;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.peer.RemoteReplicas;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.topology.Configuration;

/**
 * The roles of one term from their beginning on, as the manager of the cluster changes them: this server's lease, what
 * it adopts, and, while it is the manager, what it decides. Used by the thread of the {@link ClusterServer}; its agents
 * and its own thread for the adoption work beside that.
 */
final class ManagedRoles {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final long LEAVE_AGAIN_NS = 100_000_000;
    private static final long RENEWED_WITHIN_NS = 5_000_000_000L;

    private final ClusterContext context;
    private final ClusterSettings settings;
    private final StoredRoles roles;
    private final int serverId;
    private final long incarnation;
    private final PeerMessages messages;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    private final SerialExecutor adopting;
    private final LeaseAgent leases;
    private final AgentHandle leasesAgent;
    private final DueChanges due;
    private final ReportMessages renewals;
    private final Departures departures = new Departures();
    private final CopyMessages copies;
    private final ControlMessages control;
    private final Configuration first;
    private final IntPredicate isUnreachable;
    private volatile @Nullable Adoption adoption;
    private volatile @Nullable Server server;
    private @Nullable ConfigurationManager manager;
    private @Nullable Election election;
    /** Of the last request for new epochs: the epochs by shard, some of which were first asked for then. Of the agents. */
    private Map<Integer, Integer> renewing = Map.of();

    private long renewingSinceNs;

    /**
     * Begins to request a lease, and to grant leases if this server is the manager.
     *
     * @param first of a common start, or that this server joins in
     * @param isUnreachable whether there is no connection to a server, and the last attempt failed
     * @param alarm wakes the thread of the cluster's server
     * @param margins receives how much of each lease was left when it was renewed
     */
    ManagedRoles(
            ClusterContext context,
            ClusterSettings settings,
            StoredRoles roles,
            long incarnation,
            PeerMessages messages,
            PeerCalls calls,
            PeerCalls.Patience patience,
            Configuration first,
            IntPredicate isUnreachable,
            Runnable alarm,
            LatencyHistogram margins) {
        this.context = context;
        this.settings = settings;
        this.roles = roles;
        this.serverId = roles.serverId();
        this.incarnation = incarnation;
        this.messages = messages;
        this.calls = calls;
        this.patience = patience;
        this.first = first;
        this.isUnreachable = isUnreachable;
        this.due = new DueChanges(alarm);
        this.renewals = new ReportMessages(serverId, PeerRequestType.RENEW, messages, due.renewals());
        this.adopting = new SerialExecutor("rowan-adoption-" + serverId, context.scheduling(), context.errors());
        this.leases = new LeaseAgent(
                serverId,
                first.serverCount(),
                incarnation,
                settings.leaseTimes(),
                context.clock(),
                messages::send,
                isUnreachable,
                alarm,
                margins);
        final ReportMessages completions =
                new ReportMessages(serverId, PeerRequestType.COMPLETED, messages, due.completions());
        this.copies = new CopyMessages(this::committed, messages, completions, context.clock());
        this.control = new ControlMessages(
                messages, leases, completions, renewals, copies, departures, adopting, alarm, context.errors());
        messages.control(control);
        leases.started(Electorate.of(first), first.startTerm() == first.term(), managing());
        this.leasesAgent = context.scheduling().take(leases, context.errors());
        leasesAgent.start();
    }

    /** After a common start its manager knows of no other lease; elsewhere the manager is another server. */
    private @Nullable ManagerTerm managing() {
        return first.manager() == serverId
                ? new ManagerTerm(
                        Electorate.of(first),
                        null,
                        null,
                        Votes.NONE,
                        Grants.NONE,
                        new CommitWait(leases.now(), null, Set.of()))
                : null;
    }

    LeaseAgent leases() {
        return leases;
    }

    CopyListener copies() {
        return copies;
    }

    /**
     * Begins to follow the manager.
     *
     * @param view receives what is prepared
     * @param routing receives what is in force
     */
    void follow(
            Area area,
            Server server,
            ClusterNodes nodes,
            Consumer<Configuration> view,
            Consumer<Configuration> routing) {
        final Adoption own =
                new Adoption(serverId, incarnation, area, server, context.scheduling(), leases, first, view, routing);
        adoption = own;
        this.server = server;
        server.mendFrom(new RemoteReplicas(
                serverId,
                own::prepared,
                calls,
                context.clock(),
                settings.shape().segmentBytes()));
        server.roleChanges().prepared(first);
        server.roleChanges()
                .openings()
                .use((to, message) -> messages.send(
                        to,
                        PeerMessageDescriptor.write(
                                PeerRequestType.OPENING,
                                false,
                                message.shard(),
                                own.prepared().term(),
                                0,
                                0,
                                message.encoded())));
        control.use(own, server);
        final ConfigurationManager managing = new ConfigurationManager(
                serverId,
                settings.shape().replicas(),
                nodes,
                leases,
                own,
                this::run,
                due,
                roles::registered,
                departures,
                calls,
                patience,
                context.scheduling());
        manager = managing;
        election = new Election(
                serverId, nodes, leases, own, this::run, managing, roles::registered, calls, patience, isUnreachable);
    }

    /** The configuration whose roles are in force. Any thread. */
    Configuration committed() {
        final Adoption own = adoption;
        return own == null ? first : own.committed();
    }

    /** The newest that this server follows. Any thread. */
    Configuration prepared() {
        final Adoption own = adoption;
        return own == null ? first : own.prepared();
    }

    /** Other servers with roles in force. Any thread. */
    List<Integer> others() {
        return committed().members().stream()
                .filter(member -> member != serverId)
                .toList();
    }

    /** Performs what is due as a candidate or as the manager. */
    void step() {
        leases.requireManagersLease();
        final Election standing = election;
        final ConfigurationManager managing = manager;
        if (standing == null || managing == null) {
            return;
        }
        boolean more = true;
        while (more) {
            more = standing.step() || managing.step();
        }
    }

    /** Reads what the manager is asked for in the store. */
    void readRequests() {
        final ConfigurationManager managing = manager;
        if (managing != null) {
            managing.readRequests();
        }
    }

    /** What the manager waits for; empty if nothing. */
    String saying() {
        final ConfigurationManager managing = manager;
        return managing == null ? "" : managing.saying();
    }

    /** Asks the manager to give this server's roles to others, for it is about to stop. */
    Departures.Answer leave() {
        final Adoption own = adoption;
        final Server serving = server;
        final Configuration present = own == null ? first : own.committed();
        final int manager = present.manager();
        if (serving == null || present.members().size() == 1 || manager != serverId && isUnreachable.test(manager)) {
            return Departures.Answer.REFUSED;
        }
        final long bareTerm = serving.roleChanges().bareTerm();
        if (leases.isManager()) {
            return departures.ask(serverId, incarnation, bareTerm, leases.now().monotonicNs());
        }
        final long untilNs = leases.now().monotonicNs() + LEAVE_AGAIN_NS;
        final ByteBuffer answer = manager == serverId
                ? null
                : calls.begin(manager, PeerRequestType.LEAVE, 0, bareTerm, NOTHING)
                        .awaitWhile(() -> leases.now().monotonicNs() - untilNs < 0, patience);
        return answer == null
                ? Departures.Answer.UNDER_WAY
                : Departures.Answer.of(PeerMessageDescriptor.argument(answer));
    }

    /**
     * As {@link EpochSupplier}: asks the manager. The epochs come with its next configuration. For the agents.
     *
     * @throws IllegalStateException if they have not come for long, although this server holds a lease
     */
    @Nullable
    Configuration renew(List<Integer> shards) {
        final long nowNs = leases.now().monotonicNs();
        final Configuration present = committed();
        final Map<Integer, Integer> epochs = present.epochs(shards);
        // Without a lease there may be no manager either, and there is nothing to renew an epoch for.
        if (!leases.mayAnswer() || Collections.disjoint(renewing.entrySet(), epochs.entrySet())) {
            renewingSinceNs = nowNs;
        }
        renewing = epochs;
        renewals.tell(present, epochs);
        if (nowNs - renewingSinceNs > RENEWED_WITHIN_NS) {
            throw new IllegalStateException("the manager, server " + present.manager() + ", has stored none for "
                    + (nowNs - renewingSinceNs) / 1_000_000 + " ms");
        }
        return null;
    }

    /** Runs a step on the thread of the adoption, and waits for its end. */
    private boolean run(BooleanSupplier step) {
        final boolean[] done = new boolean[2];
        final Object lock = done;
        adopting.execute(() -> {
            final boolean result = step.getAsBoolean();
            synchronized (lock) {
                done[0] = result;
                done[1] = true;
            }
        });
        while (true) {
            synchronized (lock) {
                if (done[1]) {
                    return done[0];
                }
            }
            patience.check();
            context.scheduling().park(100_000);
        }
    }

    /** Gives up the lease and stops to follow. Call before the roles end. */
    void end() {
        leases.end();
        adopting.end();
        leasesAgent.close();
        adopting.awaitEnd();
    }
}
