package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.concurrent.SlotPool;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.session.Completion;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/**
 * A primary with a few worker contexts, clients that acquire them, and one backup, all run by one thread. {@link
 * Choices} decides the next event: a client proceeds or acquires a context, a message lands, a helper completes an
 * abandoned mutation. At the named points inside a step an error may strike, or another step may run before this one
 * proceeds.
 */
final class AcquiredWorkers {
    /** The explored shape. */
    record Shape(
            int slots, int pieces, int deaths, int preemptions, boolean retries, boolean withoutRoom, boolean departs) {
        Shape(int slots, int pieces, int deaths, int preemptions, boolean retries, boolean withoutRoom) {
            this(slots, pieces, deaths, preemptions, retries, withoutRoom, false);
        }

        /** The same, and at any moment another server becomes the primary. */
        Shape departing() {
            return new Shape(slots, pieces, deaths, preemptions, retries, withoutRoom, true);
        }
    }

    /** Strikes a client in the middle of its step. */
    static final class Struck extends RuntimeException {
        private static final long serialVersionUID = 1;

        Struck(String point) {
            super(point);
        }
    }

    /** A thread that requests one mutation after the other. */
    private static final class Client {
        final List<Asked> program;
        int done;
        int slot = -1;
        boolean begun;
        boolean running;
        Request request;
        long waitingSince = -1;

        Client(List<Asked> program) {
            this.program = program;
        }
    }

    private static final String FIRST = "first";

    private final Shape shape;
    private final Choices choices;
    private final Set<String> struckAt;
    private final Segments segments;
    private final ObjectReader reader;
    private final ShardReplica replica;
    private final ShardPrimary primary;
    private final CurrentRoles roles;
    private final InFlightWindow inFlightWindow;
    private final SlotPool pool;
    private final Backup backup;
    private final List<Worker> workers = new ArrayList<>();
    private final List<HeldReplicator> replicators = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final Client[] holders;
    private final long[] helpedAt;
    private final byte[][] keys;
    private final long[] hashes;
    private final long firstVersion;
    /** The slots with a step in progress, innermost first. */
    private final Deque<Integer> atWork = new ArrayDeque<>();

    private final StringBuilder story = new StringBuilder();

    /** Incremented by every event that may unblock another participant. */
    private long changes;

    private long now;
    private int deaths;
    private int preemptions;
    private int withheld;
    private boolean armed;
    /** The last version when another server became the primary; 0 before. */
    private long lastOfRole;

    /**
     * A primary at its start.
     *
     * @param keys of one stripe; the first has an object at the start
     * @param programs of the clients
     */
    AcquiredWorkers(
            Shape shape,
            Choices choices,
            Set<String> struckAt,
            Segments segments,
            ObjectReader reader,
            KeyHash keyHash,
            byte[][] keys,
            List<List<Asked>> programs) {
        this.shape = shape;
        this.choices = choices;
        this.struckAt = struckAt;
        this.segments = segments;
        this.reader = reader;
        this.keys = keys;
        this.hashes = new long[keys.length];
        for (int key = 0; key < keys.length; key++) {
            hashes[key] = keyHash.hash(Asked.CACHE, keys[key], 0, keys[key].length);
        }
        this.replica = new ShardReplica(0, 1, keyHash, segments, 1);
        this.primary = new ShardPrimary(replica, new VersionCounter(1));
        this.roles = RolesOfOne.current(List.of(primary), 1);
        this.inFlightWindow = new InFlightWindow(shape.slots);
        this.pool = new SlotPool(shape.slots);
        this.backup = new Backup(segments, shape.pieces);
        this.holders = new Client[shape.slots];
        this.helpedAt = new long[shape.slots];
        final ManualClock clock = new ManualClock();
        final LimitedCaches noLimits = new LimitedCaches(() -> new CacheCounts[0], 1, () -> 0, new Space(0));
        for (int slot = 0; slot < shape.slots; slot++) {
            final HeldReplicator replicator = new HeldReplicator(backup, this::reached);
            replicators.add(replicator);
            workers.add(new Worker(
                    slot,
                    1,
                    0,
                    segments,
                    roles,
                    AnswerPermit.ALWAYS,
                    replicator,
                    inFlightWindow,
                    new NoPressure(),
                    clock,
                    noLimits,
                    1));
            helpedAt[slot] = -1;
        }
        programs.forEach(program -> clients.add(new Client(program)));
        for (int session = 0; session <= programs.size(); session++) {
            replica.sessions(session + 1).open(session + 1, 1, 64);
        }
        firstVersion = putFirst();
        // One more than there are logs: what puts something leaves a free segment to what ends something.
        withheld = shape.withoutRoom ? shape.slots + 1 : 0;
        for (int free = shape.withoutRoom ? segments.freeCount() : 0; free > 0; free--) {
            segments.allocate(SegmentOwner.CLEAN, 0);
        }
        armed = true;
    }

    private long putFirst() {
        final Asked first = new Asked(Asked.Kind.PUT, 0, FIRST, 1, 1);
        final Request request = first.request(keys, hashes, 0);
        workers.get(0).begin(primary, request);
        while (!workers.get(0).advance()) {
            replicators.get(0).acknowledge();
        }
        if (shape.withoutRoom) {
            workers.get(0).retireLog();
        }
        return request.version();
    }

    // --- events ---

    /** Takes steps until none is left, then checks the outcome. */
    void run() {
        for (List<Runnable> steps = steps(); !steps.isEmpty(); steps = steps()) {
            steps.get(choices.choose(steps.size())).run();
            watch();
        }
        armed = false;
        if (lastOfRole == 0) {
            requireOrder();
        } else {
            requireOrderOfDeparted();
        }
    }

    private List<Runnable> steps() {
        final List<Runnable> steps = new ArrayList<>();
        for (Client client : clients) {
            if (client.running || client.done == client.program.size()) {
                continue;
            }
            if (client.slot < 0 ? isAnyFree() : client.waitingSince < changes) {
                steps.add(() -> step(client));
            }
        }
        for (int i = 0; i < shape.slots; i++) {
            final int slot = i;
            if (replicators.get(slot).hasUnderWay()) {
                steps.add(() -> {
                    tell("acknowledged for " + slot);
                    replicators.get(slot).acknowledge();
                    changes++;
                });
            }
            if (holders[slot] == null && workers.get(slot).hasLeftover() && helpedAt[slot] < changes) {
                steps.add(() -> help(slot));
            }
        }
        if (withheld > 0) {
            steps.add(this::giveRoom);
        }
        if (shape.departs && lastOfRole == 0) {
            steps.add(this::depart);
        }
        return steps;
    }

    private boolean isAnyFree() {
        for (Client holder : holders) {
            if (holder == null) {
                return true;
            }
        }
        return false;
    }

    private void step(Client client) {
        final int index = clients.indexOf(client);
        final Asked asked = client.program.get(client.done);
        if (client.slot < 0) {
            client.slot = acquire(index % shape.slots, client);
            client.request = asked.request(keys, hashes, firstVersion);
            client.begun = false;
            if (!asked.begun) {
                asked.askedAt = ++now;
                asked.begun = true;
            }
        }
        tell("client " + index + " goes on in " + client.slot);
        final Worker worker = workers.get(client.slot);
        client.waitingSince = changes;
        client.running = true;
        atWork.push(client.slot);
        try {
            if (!client.begun) {
                if (!worker.finishLeftover()) {
                    pause();
                    return;
                }
                worker.begin(primary, client.request);
                client.begun = true;
            }
            if (worker.advance()) {
                asked.answered(client.request, ++now);
                tell("client " + index + " was answered: " + asked);
                if (lastOfRole != 0 && !asked.tookEffect() && !asked.wasRefused()) {
                    throw new AssertionError("answered alone: " + asked);
                }
                client.done++;
                release(client);
            } else {
                pause();
            }
        } catch (Struck struck) {
            client.running = false;
            die(client, struck.getMessage());
        } finally {
            client.running = false;
            atWork.pop();
        }
    }

    /** A waiting client may find that there is nothing to wait for. */
    private void pause() {
        if (deaths < shape.deaths && choices.choose(2) == 1) {
            throw new Struck("waiting");
        }
    }

    private int acquire(int preferred, Client client) {
        for (int i = 0; i < shape.slots; i++) {
            final int slot = (preferred + i) % shape.slots;
            if (pool.tryAcquire(slot)) {
                assertThat(holders[slot]).as("holder of slot " + slot).isNull();
                holders[slot] = client;
                return slot;
            }
        }
        throw new AssertionError("no slot is free");
    }

    private void release(Client client) {
        holders[client.slot] = null;
        pool.release(client.slot);
        client.slot = -1;
        changes++;
    }

    /** Never resumes what it has begun; sends it again with the same id, or the next request. */
    private void die(Client client, String where) {
        tell("client " + clients.indexOf(client) + " dies, " + where);
        deaths++;
        release(client);
        if (!shape.retries) {
            client.done++;
        }
    }

    private void help(int slot) {
        tell("help in " + slot);
        final Client helper = new Client(List.of());
        helper.slot = acquire(slot, helper);
        helpedAt[slot] = changes;
        final boolean finished;
        atWork.push(slot);
        try {
            finished = workers.get(slot).finishLeftover();
        } catch (Struck struck) {
            tell("the helper dies, " + struck.getMessage());
            deaths++;
            release(helper);
            return;
        } finally {
            atWork.pop();
        }
        holders[slot] = null;
        pool.release(slot);
        changes += finished ? 1 : 0;
    }

    private void depart() {
        tell("another primary");
        RolesOfOne.replace(roles, RolesOfOne.without(roles.get().configuration(), 0));
        lastOfRole = primary.versions().last();
        changes++;
    }

    private void giveRoom() {
        tell("room");
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.generation(segment) != 0 && segments.owner(segment) == SegmentOwner.CLEAN) {
                segments.free(segment);
                break;
            }
        }
        withheld--;
        changes++;
    }

    /** A point inside a step. */
    void reached(String point) {
        if (!armed) {
            return;
        }
        watch();
        final int owner = replica.keyLocks().owner(KeyLocks.stripeOf(replica.positionOf(hashes[0])));
        if (owner != atWork.element() + 1) {
            throw new AssertionError("at " + point + " the keys' lock is held by " + owner);
        }
        final boolean mayStrike = deaths < shape.deaths;
        final List<Runnable> others = preemptions < shape.preemptions ? steps() : List.of();
        final int strikes = mayStrike ? 1 : 0;
        if (strikes + others.size() == 0) {
            return;
        }
        final int choice = choices.choose(1 + strikes + others.size());
        if (choice > 0 && choice <= strikes) {
            struckAt.add(point);
            throw new Struck(point);
        }
        if (choice > strikes) {
            preemptions++;
            tell("meanwhile, at " + point + ":");
            others.get(choice - strikes - 1).run();
            tell("end of meanwhile");
        }
    }

    // --- invariants ---

    /** At any time: nothing is visible or counts as committed that the backup lacks. */
    private void watch() {
        for (int key = 0; key < keys.length; key++) {
            final long address = find(key);
            if (address != 0 && !backup.holds(address)) {
                throw new AssertionError("the backup lacks what is found under key " + key);
            }
        }
        final long cleared = replica.clears().clearedUpTo(Asked.CACHE);
        if (cleared != 0 && !backup.holdsVersion(cleared)) {
            throw new AssertionError("the backup lacks the clear that is seen");
        }
        for (Client client : clients) {
            for (Asked asked : client.program) {
                final Completion completion = replica.sessions(asked.session).find(asked.session, asked.sequence);
                if (completion != null && completion.isApplied() && !backup.holds(completion.address())) {
                    throw new AssertionError("the backup lacks the entry of the completion that is found of " + asked);
                }
            }
        }
        backup.committed(commitVersion());
    }

    /** As the commit agent computes it. */
    private long commitVersion() {
        final long[] smallest = {primary.versions().last()};
        inFlightWindow.lower(smallest);
        return smallest[0];
    }

    private long find(int key) {
        return replica.index().find(replica.positionOf(hashes[key]), Asked.CACHE, keys[key], 0, keys[key].length);
    }

    private void requireOrder() {
        for (int stripe = 0; stripe < KeyLocks.STRIPES; stripe++) {
            if (replica.keyLocks().owner(stripe) != 0) {
                throw new AssertionError("stripe " + stripe + " is still locked by "
                        + replica.keyLocks().owner(stripe));
            }
        }
        assertThat(commitVersion())
                .as("nothing is in flight")
                .isEqualTo(primary.versions().last());
        final List<Asked> all = new ArrayList<>();
        for (Client client : clients) {
            assertThat(client.done).as("operations of a client that ended").isEqualTo(client.program.size());
            all.addAll(client.program);
        }
        for (Asked asked : all) {
            final long entries = backup.entriesOf(asked.session, asked.sequence);
            if (asked.isAnswered()) {
                assertThat(entries).as("entries of " + asked).isEqualTo(asked.tookEffect() ? 1 : 0);
            } else {
                assertThat(entries).as("entries of " + asked).isBetween(0L, 1L);
            }
        }
        final String[] first = new String[keys.length];
        first[0] = FIRST;
        final String[] last = new String[keys.length];
        for (int key = 0; key < keys.length; key++) {
            last[key] = read(key);
        }
        assertThat(new SequentialOrder(all, FIRST, firstVersion, last).exists(first))
                .as("an order of " + all + " that ends with " + List.of(last[0] + "", last[last.length - 1] + ""))
                .isTrue();
        requireExactSpace();
    }

    /**
     * What was refused left no trace, what was answered is on the backup, and of all else nothing is known: it waits, or
     * its client.
     */
    private void requireOrderOfDeparted() {
        assertThat(primary.versions().last())
                .as("the last version taken, and that at the departure")
                .isEqualTo(lastOfRole);
        final List<Asked> all = new ArrayList<>();
        clients.forEach(client -> all.addAll(client.program));
        for (Asked asked : all) {
            final long entries = backup.entriesOf(asked.session, asked.sequence);
            if (asked.isAnswered()) {
                assertThat(entries).as("entries of " + asked).isEqualTo(asked.tookEffect() ? 1 : 0);
            }
        }
        all.removeIf(Asked::wasRefused);
        final String[] first = new String[keys.length];
        first[0] = FIRST;
        final String[] last = new String[keys.length];
        for (int key = 0; key < keys.length; key++) {
            last[key] = read(key);
        }
        assertThat(new SequentialOrder(all, FIRST, firstVersion, last).exists(first))
                .as("an order of " + all + " that ends with " + List.of(last[0] + "", last[last.length - 1] + ""))
                .isTrue();
        backup.requireExactCredit();
    }

    private String read(int key) {
        final Request request = new Request().get(Asked.CACHE, keys[key], 0, keys[key].length);
        request.placed(hashes[key], 0);
        reader.get(replica, request, 0);
        final byte[] value = request.resultBytes();
        return value == null ? null : new String(value, StandardCharsets.US_ASCII);
    }

    /** The unavailable space is the charge of live entries, to the byte. */
    private void requireExactSpace() {
        backup.requireExactCredit();
        workers.forEach(Worker::close);
        long dead = 0;
        for (int segment = 0; segment < segments.count(); segment++) {
            dead += segments.generation(segment) == 0 ? 0 : segments.deadBytes(segment);
        }
        assertThat(segments.space().limit() - segments.space().available())
                .as("space in use")
                .isEqualTo(backup.charge() - dead);
    }

    /** Restores the segments' initial state. */
    void recycle() {
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.generation(segment) != 0) {
                segments.free(segment);
            }
        }
        segments.space().release(segments.space().limit() - segments.space().available());
    }

    private void tell(String event) {
        story.append(event).append('\n');
    }

    String story() {
        return story.toString();
    }
}
