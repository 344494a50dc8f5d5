package org.rowankv.server.authority;

import java.util.Set;
import java.util.function.Supplier;
import org.rowankv.server.authority.ModelServer.Stored;
import org.rowankv.topology.ShardAssignment;

/** All that can happen next in a state of the model. Decisions are the authority's; this is the world around it. */
final class Steps {
    /** The receiver of next states. */
    interface Sink {
        /** @param wrong what this very step broke; null if nothing */
        void step(World next, Supplier<String> label, String wrong);
    }

    private final Scope scope;
    private final Mistake mistake;
    private final Sink sink;

    Steps(Scope scope, Mistake mistake, Sink sink) {
        this.scope = scope;
        this.mistake = mistake;
        this.sink = sink;
    }

    /** The state in which a cluster is after its first start: open at the primary, without leases. */
    static World first(Scope scope) {
        final World world = new World(scope);
        final Stored stored = new WorldCodec(scope).first();
        world.store(stored);
        world.committable = 1 << 1;
        for (int slot = 0; slot < scope.servers(); slot++) {
            world.clocks[slot] = World.PRESENT;
            final ModelServer server = new ModelServer(scope.servers());
            final boolean member = slot < scope.members();
            final Voter voter =
                    new Voter(slot, 1, member ? 1 : 0, member ? stored.electorate() : null, World.LONG_AGO, null);
            final ManagerTerm manager = slot != 0
                    ? null
                    : new ManagerTerm(
                            stored.electorate(),
                            null,
                            null,
                            Votes.NONE,
                            Grants.NONE,
                            new CommitWait(World.LONG_AGO, null, Set.of()));
            server.authority = new Authority(scope.times(), voter, member ? 1 : 0, null, manager);
            server.epoch = member ? 1 : 0;
            if (slot == scope.primary()) {
                server.role.open();
            }
            world.servers[slot] = server;
        }
        return world;
    }

    void from(World world) {
        tick(world);
        for (int slot = 0; slot < scope.servers(); slot++) {
            final ModelServer server = world.servers[slot];
            if (server.up) {
                new CandidateSteps(scope, mistake, this::emit).from(world, slot);
                member(world, slot);
                if (server.manager() != null) {
                    manager(world, slot);
                }
            } else {
                restart(world, slot);
            }
        }
        if (scope.writes()) {
            new WriteSteps(scope, mistake, this::emit).from(world);
        }
    }

    private void emit(World next, Supplier<String> label, String wrong) {
        if (scope.writes() && !next.known) {
            for (int slot = 0; slot < scope.servers(); slot++) {
                next.known |= next.mayAnswer(slot) && next.answer(slot) == 1;
            }
        }
        sink.step(next, label, wrong);
    }

    private void emit(World next, Supplier<String> label) {
        emit(next, label, null);
    }

    // ---- time and failures ------------------------------------------------------------------------------------------

    private void tick(World world) {
        if (scope.skew() == 0) {
            final World next = world.copy();
            for (int slot = 0; slot < scope.servers(); slot++) {
                next.clocks[slot]++;
            }
            emit(next, () -> "a tick");
            return;
        }
        int least = Integer.MAX_VALUE;
        for (int clock : world.clocks) {
            least = Math.min(least, clock);
        }
        // From 0 or 1 ahead of the slowest to 0 or 1: each clock advances by 0, 1 or 2.
        for (int ahead = 0; ahead < (1 << scope.servers()) - 1; ahead++) {
            final World next = world.copy();
            final StringBuilder by = new StringBuilder();
            for (int slot = 0; slot < scope.servers(); slot++) {
                final int clock = least + 1 + (ahead >> slot & 1);
                by.append(' ').append(clock - next.clocks[slot]);
                next.clocks[slot] = clock;
            }
            emit(next, () -> "a tick; clocks advance by" + by);
        }
    }

    private void crash(World world, int slot) {
        if (world.crashes == scope.crashes()) {
            return;
        }
        final World next = world.copy();
        next.crashes++;
        final ModelServer server = next.change(slot);
        final Voter voter = server.voter();
        server.up = false;
        server.forget();
        server.authority = new Authority(
                scope.times(),
                Voter.started(slot, voter.incarnation(), voter.promise(), voter.prepared(), world.now(slot)),
                0,
                null,
                null);
        emit(next, () -> "server " + slot + " crashes");
    }

    private void restart(World world, int slot) {
        final World next = world.copy();
        final ModelServer server = next.change(slot);
        final Voter voter = server.voter();
        server.up = true;
        server.authority = new Authority(
                scope.times(),
                Voter.started(slot, voter.incarnation() + 1, voter.promise(), voter.prepared(), world.now(slot)),
                0,
                null,
                null);
        emit(next, () -> "server " + slot + " starts again, incarnation " + (voter.incarnation() + 1));
    }

    // ---- a member ---------------------------------------------------------------------------------------------------

    private void member(World world, int slot) {
        crash(world, slot);
        final ModelServer server = world.servers[slot];
        for (int term = 1; term <= world.term(); term++) {
            final int each = term;
            final Stored stored = world.stored(term);
            if (server.voter().preparedTerm() != term && server.authority.mayPrepare(stored.electorate())) {
                final World next = world.copy();
                set(next.change(slot), server.authority.preparing(stored.electorate()));
                emit(next, () -> "server " + slot + " prepares term " + each);
            }
            if ((world.committable >> term & 1) == 1 && server.authority.committed() < term) {
                final Authority committed = server.authority.committing(term);
                if (committed.committed() == term) {
                    final World next = world.copy();
                    next.change(slot).authority = committed;
                    emit(next, () -> "server " + slot + " commits term " + each);
                }
            }
        }
        leave(world, slot);
        open(world, slot);
        exclusion(world, slot);
        if (scope.leasesInFlight()) {
            if (server.requested == null || server.requested.sentAt().leastNsSince(world.now(slot)) < 0) {
                final World next = world.copy();
                next.change(slot).requested = server.authority.request(world.now(slot));
                emit(next, () -> "server " + slot + " sends a request for a lease");
            }
            if (server.granted != null) {
                final World next = world.copy();
                final ModelServer holder = next.change(slot);
                holder.authority = holder.authority.granted(holder.granted, world.now(slot));
                holder.granted = null;
                emit(next, () -> "the grant arrives at server " + slot);
            }
        }
    }

    /**
     * A server that has committed a configuration which makes another the primary serves the shard, finishes the write that
     * it has begun, and gives the shard up, at any moment.
     */
    private void leave(World world, int slot) {
        final ModelServer server = world.servers[slot];
        if (!server.role.isOpen() || !isLeaving(world, slot)) {
            return;
        }
        if (!isWriting(world, slot) || mistake == Mistake.LEAVES_WITH_A_WRITE_BEGUN) {
            final World next = world.copy();
            next.change(slot).role.close();
            emit(next, () -> "server " + slot + " gives up the shard in term " + server.authority.committed());
        }
    }

    /** Whether it has begun a write as the primary: that of a former primary is not collected from itself. */
    private static boolean isWriting(World world, int slot) {
        final ModelServer server = world.servers[slot];
        return world.writer == slot
                && world.writerIncarnation == server.voter().incarnation()
                && world.writerEpoch == server.epoch
                && !world.known;
    }

    private static boolean isLeaving(World world, int slot) {
        return world.stored(world.servers[slot].authority.committed()).shard().primary() != slot;
    }

    private void open(World world, int slot) {
        final ModelServer server = world.servers[slot];
        final int term = (int) server.authority.committed();
        if (server.role.isOpen() || term == 0) {
            return;
        }
        final Stored stored = world.stored(term);
        if (stored.shard().primary() != slot
                || !stored.electorate().names(slot, server.voter().incarnation())) {
            return;
        }
        int value = 0;
        for (int other = 0; other < scope.servers(); other++) {
            if (stored.shard().isReplica(other)) {
                final ModelServer replica = world.servers[other];
                final Voter voter = replica.voter();
                if (!replica.up
                        || !stored.electorate().names(other, voter.incarnation())
                        || !answersCollect(world, voter, term)
                        || !hasHandedOver(world, other, slot, term)) {
                    return;
                }
                value = Math.max(value, isWriting(world, other) ? 0 : replica.value);
            }
        }
        final World next = world.copy();
        for (int other = 0; other < scope.servers(); other++) {
            if (stored.shard().isReplica(other)) {
                final ModelServer replica = next.change(other);
                replica.epoch = term;
                replica.value = stored.shard().isComplete(other) ? value : replica.value;
            }
        }
        next.servers[slot].role.open();
        final int collected = value;
        emit(
                next,
                () -> "server " + slot + " collects value " + collected + " and opens the shard in term " + term,
                world.known && value == 0 ? "the acknowledged value is lost" : null);
    }

    /** Behind the fence of that term, or of a later one of the same epoch. */
    private static boolean answersCollect(World world, Voter voter, int term) {
        final int prepared = (int) voter.preparedTerm();
        return prepared >= term && world.beginOfEpoch(prepared) <= term;
    }

    /** Whether a replica is not, and will not be, the primary before that of this term: it has left, or never was. */
    private boolean hasHandedOver(World world, int replica, int primary, int term) {
        final ModelServer server = world.servers[replica];
        return replica == primary
                || mistake == Mistake.OPENS_BEFORE_HAND_OVER
                || !server.role.isOpen() && server.authority.committed() >= world.beginOfEpoch(term);
    }

    /** An excluded server finds that out: it gives up its replica and may join as a later incarnation. */
    private void exclusion(World world, int slot) {
        final ModelServer server = world.servers[slot];
        final Voter voter = server.voter();
        final Electorate stored = world.stored().electorate();
        if (!scope.joins() && !scope.reads()
                || voter.prepared() == null
                || !voter.prepared().names(slot, voter.incarnation())
                || stored.isMember(slot)
                || voter.incarnation() == 3) {
            return;
        }
        final World next = world.copy();
        final ModelServer excluded = next.change(slot);
        excluded.role.close();
        excluded.value = 0;
        excluded.epoch = 0;
        set(
                excluded,
                new Authority(
                        scope.times(),
                        Voter.started(
                                slot, voter.incarnation() + 1, voter.promise(), voter.prepared(), world.now(slot)),
                        0,
                        null,
                        null));
        excluded.requested = null;
        excluded.granted = null;
        emit(
                next,
                () -> "server " + slot + " sees its exclusion, gives up its replica, incarnation "
                        + (voter.incarnation() + 1));
    }

    // ---- a manager --------------------------------------------------------------------------------------------------

    private void manager(World world, int slot) {
        final ModelServer server = world.servers[slot];
        final ManagerTerm manager = server.manager();
        final ClockReading now = world.now(slot);
        for (int other = 0; other < scope.servers(); other++) {
            if (other != slot && world.servers[other].up && !scope.leasesInFlight()) {
                grant(world, slot, other);
            }
        }
        new VoteSteps(scope, this::emit).from(world, slot);
        if (scope.leasesInFlight()) {
            new GrantSteps(scope, this::emit).from(world, slot);
        }
        final int term = (int) manager.stored().term();
        if ((world.committable >> term & 1) == 0) {
            ManagerTerm knowing = manager;
            for (int other = 0; other < scope.servers(); other++) {
                final Voter voter = world.servers[other].voter();
                if (manager.commitWait().superseded() != null
                        && voter.preparedTerm()
                                > manager.commitWait().superseded().term()) {
                    knowing = knowing.preparedBy(other, voter.prepared().incarnation(other));
                }
            }
            if (knowing.commitRemainingNs(now, scope.times()) == 0) {
                final World next = world.copy();
                next.committable |= 1 << term;
                emit(next, () -> "the waits of manager " + slot + " are over: it sends COMMIT of term " + term);
            }
        }
        if (manager.pending() != null) {
            final World next = world.copy();
            set(next.change(slot), server.authority.written());
            emit(next, () -> "manager " + slot + " learns that term " + (term + 1) + " is stored");
        } else if (world.term() > term) {
            final World next = world.copy();
            set(next.change(slot), server.authority.superseded());
            emit(next, () -> "manager " + slot + " reads that another manager is stored");
        } else if (world.hasTermsLeft()) {
            propose(world, slot);
        }
    }

    private void grant(World world, int slot, int holder) {
        final World next = world.copy();
        final ModelServer server = next.change(slot);
        final ModelServer other = next.change(holder);
        final ManagerTerm asked = server.manager().receive(other.authority.request(world.now(holder)), world.now(slot));
        if (!asked.isConfirmed(world.now(slot), scope.times())) {
            return;
        }
        final Grants.Checked checked = asked.grant(world.now(slot));
        server.authority = server.authority.with(asked.with(checked.next()));
        for (LeaseGrant grant : checked.grants()) {
            other.authority = other.authority.granted(grant, world.now(holder));
        }
        emit(next, () -> "manager " + slot + " grants server " + holder + " a lease");
    }

    private void propose(World world, int slot) {
        final Stored stored = world.stored();
        final Electorate electorate = stored.electorate();
        for (Set<Integer> excluded : CandidateSteps.exclusions(scope, electorate, slot, false)) {
            for (ShardAssignment shard : CandidateSteps.shardsWithout(scope, stored.shard(), excluded)) {
                propose(world, slot, electorate.excluding(excluded), shard);
            }
        }
        for (int backup : scope.handsOver() ? stored.shard().backups() : new int[0]) {
            if (stored.shard().isComplete(backup)) {
                propose(world, slot, electorate.excluding(Set.of()), CandidateSteps.handedOver(stored.shard(), backup));
            }
        }
        for (int other = 0; other < scope.servers(); other++) {
            final ModelServer added = world.servers[other];
            final long incarnation = added.voter().incarnation();
            final boolean isMember = electorate.isMember(other);
            if (added.up
                    && !electorate.names(other, incarnation)
                    && electorate.mayAdd(other, incarnation)
                    && (isMember || scope.joins())) {
                propose(
                        world,
                        slot,
                        electorate.adding(other, incarnation),
                        isMember ? stored.shard() : stored.shard().adding(other));
            }
        }
    }

    private void propose(World world, int slot, Electorate electorate, ShardAssignment shard) {
        final World next = world.copy();
        final ModelServer server = next.change(slot);
        if (!mistake.forgetsPendingWrite()) {
            server.authority = server.authority.with(server.manager().proposing(electorate, world.now(slot)));
        }
        next.store(new Stored(electorate, shard));
        emit(next, () -> "manager " + slot + " stores " + CandidateSteps.describe(next));
    }

    /** Sets what a server knows; what it had under way as the manager of a term ends with that. */
    static void set(ModelServer server, Authority next) {
        final ManagerTerm before = server.manager();
        server.authority = next;
        if (before != null
                && (next.manager() == null
                        || next.manager().stored().term() != before.stored().term())) {
            server.forgetManaging();
        }
    }

    /** The voter's side of a confirmation, which may end its own time as the manager. */
    static void confirm(ModelServer server, ConfirmationRequest request, ClockReading now) {
        set(server, server.authority.confirmed(request, now));
    }
}
