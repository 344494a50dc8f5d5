package org.rowankv.server.authority;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.rowankv.server.authority.ModelServer.Stored;
import org.rowankv.topology.ShardAssignment;

/** An election: read, stand, learn the outcome. */
final class CandidateSteps {
    private final Scope scope;
    private final Mistake mistake;
    private final Steps.Sink sink;

    CandidateSteps(Scope scope, Mistake mistake, Steps.Sink sink) {
        this.scope = scope;
        this.mistake = mistake;
        this.sink = sink;
    }

    void from(World world, int slot) {
        final Authority authority = world.servers[slot].authority;
        final Candidacy candidacy = authority.candidacy();
        if (candidacy != null && candidacy.isStanding()) {
            final boolean won = WorldCodec.hasWon(world, candidacy);
            final World next = world.copy();
            Steps.set(next.change(slot), won ? authority.elected() : authority.notElected());
            emit(
                    next,
                    () -> "server " + slot + " learns that it is " + (won ? "" : "not ") + "the manager of term "
                            + candidacy.proposed().term());
            return;
        }
        if (!world.hasTermsLeft() || authority.manager() != null) {
            return;
        }
        if (world.stored().electorate().isMember(slot)) {
            final World next = world.copy();
            next.change(slot).authority = authority.read(
                    world.stored().electorate(), new StoreVersions(world.term(), world.votes), world.now(slot));
            emit(next, () -> "server " + slot + " reads term " + world.term() + " in the store");
        }
        final Authority standing = mistake.standsUnprepared() ? pretendingToHavePrepared(authority) : authority;
        if (standing.mayStand()) {
            stand(world, slot, standing);
        }
    }

    private static Authority pretendingToHavePrepared(Authority authority) {
        final Voter voter = authority.voter();
        final Candidacy candidacy = authority.candidacy();
        return candidacy == null
                ? authority
                : new Authority(
                        authority.times(),
                        new Voter(
                                voter.slot(),
                                voter.incarnation(),
                                voter.promise(),
                                candidacy.stored(),
                                voter.lastConfirmation(),
                                voter.lease()),
                        authority.committed(),
                        candidacy,
                        null);
    }

    private void stand(World world, int slot, Authority authority) {
        final Candidacy candidacy = authority.candidacy();
        final boolean succeeds = candidacy.versions().configuration() == world.term()
                && (candidacy.versions().vote() == world.votes || mistake == Mistake.IGNORES_VOTE_VERSION);
        if (!succeeds) {
            final World next = world.copy();
            Steps.set(next.change(slot), own(world, slot, authority.standing(Set.of(), world.now(slot))));
            emit(
                    next,
                    () -> "server " + slot + " stands for term "
                            + (candidacy.stored().term() + 1) + ", in vain: the store has changed since it read");
            return;
        }
        final boolean rollsBack = mistake == Mistake.ROLLS_BACK && authority.committed() > 0;
        final Stored before = world.stored(rollsBack ? authority.committed() : world.term());
        final Electorate from = rollsBack
                ? new Electorate(
                        world.term(),
                        before.electorate().manager(),
                        before.electorate().incarnations(),
                        before.electorate().members())
                : candidacy.stored();
        final Authority reading = rollsBack
                ? new Authority(
                        authority.times(),
                        authority.voter(),
                        authority.committed(),
                        Candidacy.read(from, candidacy.versions(), candidacy.readAt()),
                        null)
                : authority;
        for (Set<Integer> excluded : exclusions(scope, from, slot, true)) {
            for (ShardAssignment shard : shardsWithout(scope, before.shard(), excluded)) {
                final World next = world.copy();
                final ModelServer server = next.change(slot);
                Steps.set(server, own(world, slot, reading.standing(excluded, world.now(slot))));
                next.store(new Stored(server.authority.candidacy().proposed(), shard));
                emit(next, () -> "server " + slot + " stores " + describe(next));
            }
        }
    }

    /** With what it really prepared. */
    private static Authority own(World world, int slot, Authority standing) {
        final Voter voter = standing.voter();
        return new Authority(
                standing.times(),
                new Voter(
                        slot,
                        voter.incarnation(),
                        voter.promise(),
                        world.servers[slot].voter().prepared(),
                        voter.lastConfirmation(),
                        voter.lease()),
                standing.committed(),
                standing.candidacy(),
                standing.manager());
    }

    static String describe(World world) {
        final Stored stored = world.stored();
        return "term " + world.term() + ": manager " + stored.electorate().manager() + ", members "
                + stored.electorate().members() + ", primary " + stored.shard().primary();
    }

    static List<Set<Integer>> exclusions(Scope scope, Electorate from, int self, boolean none) {
        final List<Set<Integer>> all = new ArrayList<>();
        for (int mask = none ? 0 : 1; mask < 1 << scope.servers(); mask++) {
            if (Integer.bitCount(mask) <= scope.excludedAtOnce()) {
                final Set<Integer> excluded = new TreeSet<>();
                for (int slot = 0; slot < scope.servers(); slot++) {
                    if ((mask >> slot & 1) == 1) {
                        excluded.add(slot);
                    }
                }
                if (!excluded.contains(self) && from.members().containsAll(excluded)) {
                    all.add(excluded);
                }
            }
        }
        return all;
    }

    /** Every choice of the next primary; none if no complete replica is left. */
    static List<ShardAssignment> shardsWithout(Scope scope, ShardAssignment shard, Set<Integer> excluded) {
        final List<ShardAssignment> all = new ArrayList<>();
        for (int preferred = 0; preferred < scope.servers(); preferred++) {
            final ShardAssignment next = shard.excluding(excluded, preferred);
            if (next != null && all.stream().noneMatch(each -> each.primary() == next.primary())) {
                all.add(next);
            }
        }
        return all;
    }

    /** With a complete backup as the primary, and the present one as a backup. */
    static ShardAssignment handedOver(ShardAssignment shard, int to) {
        final int[] backups = Arrays.stream(shard.backups())
                .map(backup -> backup == to ? shard.primary() : backup)
                .toArray();
        return new ShardAssignment(shard.epoch(), to, backups, shard.joining());
    }

    private void emit(World next, Supplier<String> label) {
        sink.step(next, label, null);
    }
}
