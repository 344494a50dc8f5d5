package org.rowankv.server.authority;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.server.authority.ModelServer.Stored;
import org.rowankv.topology.ShardAssignment;

/**
 * A state as bytes. Times become ages by the clock of their server; what cannot matter any more is left out, so that
 * states that differ only in it are one.
 */
final class WorldCodec {
    /** Bits of what is stored in one term. */
    private static final int STORED = 24;

    private static final int MASK = 4;
    private static final int TERM = 3;
    private static final int AGE = 4;

    private final Scope scope;
    private final LeaseTimes times;
    /** Ages from which a lease or a confirmation is over, and a granted one too. */
    private final int lease;

    private final int oneLease;
    private final int longest;
    private final Stored first;
    /** By term and bits. */
    private final Map<Long, Stored> known = new HashMap<>();

    private final byte[] buffer = new byte[256];

    WorldCodec(Scope scope) {
        this.scope = scope;
        this.times = scope.times();
        this.first = first(scope);
        this.longest = (int) times.twoLeasesNs();
        this.lease = scope.exact() ? longest : (int) times.leaseNs();
        this.oneLease = scope.exact() ? longest : (int) times.oneLeaseNs();
    }

    // ---- encoding ---------------------------------------------------------------------------------------------------

    byte[] encode(World world) {
        Arrays.fill(buffer, (byte) 0);
        final StateBits out = new StateBits(buffer);
        out.put(world.term(), TERM);
        for (int i = 1; i < world.term(); i++) {
            final int bits = world.history.get(i).bits();
            for (int shift = 0; shift < STORED; shift += 8) {
                out.put(bits >> shift & 0xFF, 8);
            }
        }
        out.put(world.committable >> 1, scope.terms());
        out.put(world.crashes, 2);
        if (scope.skew() > 0) {
            final int least = Arrays.stream(world.clocks).min().orElseThrow();
            for (int clock : world.clocks) {
                out.put(clock - least, 2);
            }
        }
        if (scope.writes()) {
            out.put(world.writer + 1, 3);
            out.put(world.writerIncarnation, 2);
            out.put(world.writerEpoch, TERM);
            out.put(world.landed, MASK);
            out.put(world.known);
        }
        for (int slot = 0; slot < scope.servers(); slot++) {
            encode(out, world, slot);
        }
        return Arrays.copyOf(buffer, out.length());
    }

    private void encode(StateBits out, World world, int slot) {
        final ModelServer server = world.servers[slot];
        final Voter voter = server.voter();
        final ClockReading now = world.now(slot);
        out.put(server.up);
        out.put((int) voter.incarnation(), 2);
        out.put((int) voter.promise(), TERM);
        out.put((int) voter.preparedTerm(), TERM);
        if (scope.writes()) {
            out.put(server.value, 1);
            out.put(server.epoch, TERM);
        }
        if (!server.up) {
            return;
        }
        final Candidacy candidacy = relevant(world, server.authority.candidacy());
        out.put((int) server.authority.committed(), TERM);
        out.put(server.role.isOpen());
        putAge(
                out,
                now,
                voter.lease() == null || !mayServe(world, slot)
                        ? null
                        : voter.lease().from(),
                lease);
        if (scope.reads()) {
            out.put(server.taken != ModelServer.NO_READ);
            if (server.taken != ModelServer.NO_READ) {
                out.put(server.mustSee);
                out.put(server.role.isUnchanged(server.taken));
            }
        }
        if (scope.leasesInFlight()) {
            putAge(out, now, server.requested == null ? null : server.requested.sentAt(), lease);
            final LeaseGrant granted = server.granted;
            if (putAge(out, now, granted == null ? null : granted.request().sentAt(), lease)) {
                out.put((int) granted.term(), TERM);
            }
        }
        encode(out, world, candidacy, slot);
        out.put(server.manager() != null);
        if (server.manager() != null) {
            encode(out, world, server, slot);
        }
    }

    /** A lease is of use only to a server that is the primary in some term, or may become it. */
    private boolean mayServe(World world, int slot) {
        return scope.exact()
                || world.hasTermsLeft()
                || world.history.stream().anyMatch(each -> each.shard().primary() == slot);
    }

    private Candidacy relevant(World world, Candidacy candidacy) {
        return candidacy == null || candidacy.isStanding() || world.hasTermsLeft() || scope.exact() ? candidacy : null;
    }

    /**
     * A confirmation before the read does not matter: the wait counts from the later of both. Without a candidacy none
     * does, since the read is still to come.
     */
    private void encode(StateBits out, World world, Candidacy candidacy, int slot) {
        out.put(candidacy != null);
        if (candidacy == null) {
            if (scope.exact()) {
                out.put(age(world.now(slot), world.servers[slot].voter().lastConfirmation(), longest), AGE);
            }
            return;
        }
        final ClockReading now = world.now(slot);
        final ClockReading lastConfirmation = world.servers[slot].voter().lastConfirmation();
        final int since = age(now, candidacy.readAt(), longest);
        final int confirmed = age(now, lastConfirmation, longest);
        out.put((int) candidacy.stored().term(), TERM);
        out.put(candidacy.isStanding());
        final boolean mayWin = candidacy.isStanding()
                ? hasWon(world, candidacy)
                : candidacy.versions().equals(new StoreVersions(world.term(), world.votes));
        out.put(mayWin);
        if (mayWin || scope.exact()) {
            out.put(since, AGE);
            out.put(scope.exact() ? confirmed : Math.min(since, confirmed), AGE);
            if (candidacy.isStanding()) {
                out.put(age(now, candidacy.sentAt(), lease), AGE);
            }
        }
    }

    static boolean hasWon(World world, Candidacy candidacy) {
        final Electorate proposed = candidacy.proposed();
        return world.term() >= proposed.term()
                && world.stored(proposed.term())
                        .electorate()
                        .isManagedBy(proposed.manager(), proposed.incarnation(proposed.manager()));
    }

    private void encode(StateBits out, World world, ModelServer server, int slot) {
        final ManagerTerm manager = server.manager();
        final ClockReading now = world.now(slot);
        out.put((int) manager.stored().term(), TERM);
        out.put(manager.pending() != null);
        if (manager.pending() != null) {
            out.put(age(now, manager.sentAt(), lease), AGE);
        }
        putAge(out, now, manager.votes().store(), lease);
        final boolean mayPropose = scope.exact()
                || manager.pending() != null
                || world.hasTermsLeft() && world.term() == manager.stored().term();
        final boolean mustWait =
                mayPropose || (world.committable >> manager.stored().term() & 1) == 0;
        final Electorate staying = manager.pending() != null ? manager.pending() : manager.stored();
        for (int other = 0; other < scope.servers(); other++) {
            if (other == slot) {
                continue;
            }
            putAge(out, now, counting(manager, other), lease);
            final boolean awaited =
                    mustWait && !staying.isMember(other) || mayPropose && world.hasTermsLeft() || scope.exact();
            putAge(out, now, awaited ? manager.grants().answered().at(other) : null, oneLease);
            if (scope.votesInFlight()) {
                putAge(out, now, server.asked[other] == null ? null : server.asked[other].sentAt(), lease);
                putAge(out, now, server.confirmed[other] == null ? null : server.confirmed[other].sentAt(), lease);
            }
            if (scope.leasesInFlight()) {
                encodeReceived(out, world, server, other);
            }
        }
        if (scope.votesInFlight()) {
            putAge(out, now, server.voteSent, lease);
            putAge(out, now, server.voteGiven, lease);
        }
        if (scope.leasesInFlight()) {
            putAge(out, now, server.confirmedAt, oneLease);
        }
        out.put(mustWait ? age(now, manager.commitWait().since(), longest) : longest, AGE);
        final Electorate superseded = manager.commitWait().superseded();
        out.put(superseded == null || !mustWait ? 0 : (int) superseded.term(), TERM);
    }

    /** A vote that is not later than the store's makes no quorum that the store's does not make as well. */
    private ClockReading counting(ManagerTerm manager, int other) {
        final ClockReading vote =
                manager.stored().isMember(other) ? manager.votes().members().at(other) : null;
        final ClockReading store = manager.votes().store();
        return scope.exact() || vote == null || store == null || vote.leastNsSince(store) > 0 ? vote : null;
    }

    /** Of the time of receipt only its order with the confirmation matters. */
    private void encodeReceived(StateBits out, World world, ModelServer server, int other) {
        for (Grants.Received each : server.manager().grants().received()) {
            if (each.request().slot() == other) {
                if (putAge(out, world.now(other), each.request().sentAt(), lease)) {
                    out.put((int) each.request().incarnation(), 2);
                    out.put(server.confirmedAt != null && server.confirmedAt.leastNsSince(each.at()) >= 0);
                }
                return;
            }
        }
        putAge(out, world.now(other), null, lease);
    }

    private static int age(ClockReading now, ClockReading then, int cap) {
        return (int) Math.min(cap, now.leastNsSince(then));
    }

    /** Nothing, or an age below the cap; older is nothing. */
    private static boolean putAge(StateBits out, ClockReading now, ClockReading then, int cap) {
        final int age = then == null ? cap : age(now, then, cap);
        out.put(age == cap ? 0 : age + 1, AGE);
        return age != cap;
    }

    // ---- decoding ---------------------------------------------------------------------------------------------------

    World decode(byte[] bytes) {
        final StateBits in = new StateBits(bytes);
        final World world = new World(scope);
        final int terms = in.get(TERM);
        world.history.add(first);
        for (int i = 1; i < terms; i++) {
            int bits = 0;
            for (int shift = 0; shift < STORED; shift += 8) {
                bits |= in.get(8) << shift;
            }
            world.history.add(stored(bits, i + 1));
        }
        world.committable = in.get(scope.terms()) << 1;
        world.crashes = in.get(2);
        for (int slot = 0; slot < scope.servers(); slot++) {
            world.clocks[slot] = World.PRESENT + (scope.skew() > 0 ? in.get(2) : 0);
        }
        if (scope.writes()) {
            world.writer = in.get(3) - 1;
            world.writerIncarnation = in.get(2);
            world.writerEpoch = in.get(TERM);
            world.landed = in.get(MASK);
            world.known = in.is();
        }
        for (int slot = 0; slot < scope.servers(); slot++) {
            world.servers[slot] = server(in, world, slot);
        }
        return world;
    }

    /** What is stored in term 1. */
    Stored first() {
        return first;
    }

    private static Stored first(Scope scope) {
        final List<Long> incarnations = new ArrayList<>();
        final List<Integer> members = new ArrayList<>();
        final List<Integer> backups = new ArrayList<>();
        for (int slot = 0; slot < scope.members(); slot++) {
            incarnations.add(1L);
            members.add(slot);
            if (slot != scope.primary()) {
                backups.add(slot);
            }
        }
        return new Stored(
                new Electorate(1, 0, incarnations, members),
                new ShardAssignment(
                        1, scope.primary(), backups.stream().mapToInt(i -> i).toArray()));
    }

    private ModelServer server(StateBits in, World world, int slot) {
        final ModelServer server = new ModelServer(scope.servers());
        final ClockReading now = world.now(slot);
        server.up = in.is();
        final int incarnation = in.get(2);
        final int promise = in.get(TERM);
        final int prepared = in.get(TERM);
        if (scope.writes()) {
            server.value = in.get(1);
            server.epoch = in.get(TERM);
        }
        final Electorate preparing =
                prepared == 0 ? null : world.stored(prepared).electorate();
        if (!server.up) {
            final Voter voter = Voter.started(slot, incarnation, promise, preparing, now);
            server.authority = new Authority(times, voter, 0, null, null);
            return server;
        }
        final int committed = in.get(TERM);
        final boolean open = in.is();
        final ClockReading leased = reading(in, now);
        boolean reading = false;
        boolean changed = false;
        if (scope.reads()) {
            reading = in.is();
            server.mustSee = reading && in.is();
            changed = reading && !in.is();
        }
        server.setRole(open, reading, changed);
        if (scope.leasesInFlight()) {
            final ClockReading requested = reading(in, now);
            server.requested = requested == null ? null : new LeaseRequest(slot, incarnation, requested);
            final ClockReading granted = reading(in, now);
            server.granted =
                    granted == null ? null : new LeaseGrant(in.get(TERM), new LeaseRequest(slot, incarnation, granted));
        }
        final ClockReading[] lastConfirmation = {before(now, longest)};
        Candidacy candidacy = null;
        if (in.is()) {
            candidacy = candidacy(in, world, slot, incarnation, lastConfirmation);
        } else if (scope.exact()) {
            lastConfirmation[0] = before(now, in.get(AGE));
        }
        final Voter voter = new Voter(
                slot, incarnation, promise, preparing, lastConfirmation[0], leased == null ? null : new Lease(leased));
        final ManagerTerm manager = in.is() ? manager(in, world, server, slot) : null;
        server.authority = new Authority(times, voter, committed, candidacy, manager);
        return server;
    }

    private Candidacy candidacy(StateBits in, World world, int slot, int incarnation, ClockReading[] lastConfirmation) {
        final ClockReading now = world.now(slot);
        final int term = in.get(TERM);
        final Electorate stored = world.stored(term).electorate();
        final boolean standing = in.is();
        final boolean mayWin = in.is();
        final boolean kept = mayWin || scope.exact();
        final ClockReading readAt = kept ? before(now, in.get(AGE)) : now;
        if (kept) {
            lastConfirmation[0] = before(now, in.get(AGE));
        }
        if (!standing) {
            return Candidacy.read(stored, new StoreVersions(term, mayWin ? world.votes : world.votes - 1), readAt);
        }
        return new Candidacy(
                stored,
                new StoreVersions(term, 0),
                readAt,
                mayWin ? world.stored(term + 1L).electorate() : stored.succeeded(slot, incarnation, Set.of()),
                kept ? before(now, in.get(AGE)) : now);
    }

    private ManagerTerm manager(StateBits in, World world, ModelServer server, int slot) {
        final ClockReading now = world.now(slot);
        final int term = in.get(TERM);
        final Electorate stored = world.stored(term).electorate();
        final boolean pending = in.is();
        final ClockReading sentAt = pending ? before(now, in.get(AGE)) : null;
        final ClockReading store = reading(in, now);
        final Map<Integer, ClockReading> confirmed = new HashMap<>();
        final Map<Integer, ClockReading> answered = new HashMap<>();
        final List<LeaseRequest> requests = new ArrayList<>();
        final List<Grants.Received> received = new ArrayList<>();
        final Set<Integer> receivedBefore = new HashSet<>();
        for (int other = 0; other < scope.servers(); other++) {
            if (other == slot) {
                continue;
            }
            putIfPresent(confirmed, other, reading(in, now));
            putIfPresent(answered, other, reading(in, now));
            if (scope.votesInFlight()) {
                server.asked[other] = question(stored, other, reading(in, now));
                server.confirmed[other] = question(stored, other, reading(in, now));
            }
            if (scope.leasesInFlight()) {
                final ClockReading request = reading(in, world.now(other));
                if (request != null) {
                    requests.add(new LeaseRequest(other, in.get(2), request));
                    if (in.is()) {
                        receivedBefore.add(other);
                    }
                }
            }
        }
        if (scope.votesInFlight()) {
            server.voteSent = reading(in, now);
            server.voteGiven = reading(in, now);
        }
        if (scope.leasesInFlight()) {
            server.confirmedAt = reading(in, now);
        }
        // Of the time of receipt only its order with the confirmation is kept; without one, all are to be answered.
        final ClockReading behind = server.confirmedAt == null ? World.LONG_AGO : before(server.confirmedAt, -1);
        requests.forEach(each -> received.add(
                new Grants.Received(each, receivedBefore.contains(each.slot()) ? World.LONG_AGO : behind)));
        final ClockReading since = before(now, in.get(AGE));
        final int superseded = in.get(TERM);
        return new ManagerTerm(
                stored,
                pending ? world.stored(term + 1L).electorate() : null,
                sentAt,
                new Votes(store, new SlotReadings(confirmed)),
                new Grants(received, new SlotReadings(answered)),
                new CommitWait(
                        since, superseded == 0 ? null : world.stored(superseded).electorate(), Set.of()));
    }

    private static void putIfPresent(Map<Integer, ClockReading> readings, int slot, ClockReading reading) {
        if (reading != null) {
            readings.put(slot, reading);
        }
    }

    private static ConfirmationRequest question(Electorate stored, int slot, ClockReading sentAt) {
        return sentAt == null ? null : new ConfirmationRequest(stored.term(), slot, stored.incarnation(slot), sentAt);
    }

    private static ClockReading before(ClockReading now, int age) {
        return new ClockReading(now.monotonicNs() - age, 0);
    }

    private static ClockReading reading(StateBits in, ClockReading now) {
        final int age = in.get(AGE);
        return age == 0 ? null : before(now, age - 1);
    }

    private Stored stored(int bits, int term) {
        return known.computeIfAbsent((long) term << STORED | bits, key -> {
            final List<Long> incarnations = new ArrayList<>();
            final List<Integer> members = new ArrayList<>();
            final List<Integer> backups = new ArrayList<>();
            final Set<Integer> joining = new HashSet<>();
            final int primary = bits >> 2 & 3;
            for (int slot = 0; slot < scope.servers(); slot++) {
                final int ofSlot = bits >> 4 + 5 * slot;
                incarnations.add((long) (ofSlot & 3));
                if ((ofSlot >> 2 & 1) == 1) {
                    members.add(slot);
                }
                if ((ofSlot >> 3 & 1) == 1 && slot != primary) {
                    backups.add(slot);
                }
                if ((ofSlot >> 4 & 1) == 1) {
                    joining.add(slot);
                }
            }
            return new Stored(
                    new Electorate(term, bits & 3, incarnations, members),
                    new ShardAssignment(
                            1, primary, backups.stream().mapToInt(i -> i).toArray(), joining));
        });
    }
}
