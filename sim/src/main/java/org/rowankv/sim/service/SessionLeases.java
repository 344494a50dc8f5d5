package org.rowankv.sim.service;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.verify.RequestCopy;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardSessions;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Vanishing clients, and the leases of their sessions. Checks: no session ends within a lease of its last reply, unless
 * closed by its client or displaced by an opening. During pauses the sessions of vanished clients end, also in a full
 * store. A session that mutations have used and that has ended never opens again, and its late mutations are refused.
 * An unused session may open again: a client that does not know the outcome of an opening resends it.
 */
public final class SessionLeases implements Service {
    private static final int LEASES_TO_END = 8;
    private static final int LOOKS_PER_LEASE = 16;
    private static final int MOST_LOOKS = 100;
    private static final int LEAST_LOOKS = 4_000;
    private static final int KEPT_ONE_IN = 8;
    private static final int WAIT_ONE_IN = 3;
    /** Of a lease: exceeds clock drift. */
    private static final int DRIFT = 1_000;
    /** Longest idle time of agents. */
    private static final long REST_NS = 100_000_000;

    private record Place(int shard, long sessionId) {}

    private final StoreScene scene;
    private final RandomSource random;
    private final long leaseNs;
    private final int vanishOneIn;
    /** When a request of an open session was last answered. */
    private final Map<Place, Long> usedAtNs = new HashMap<>();
    /** As of the last check. */
    private final Set<Place> open = new HashSet<>();

    /** Ended sessions; one that no mutation had used leaves the set when it opens again. */
    private final Set<Place> ended = new HashSet<>();
    /** A mutation had arrived before they ended: no client opens these again. */
    private final Set<Place> over = new HashSet<>();
    /** A mutation has arrived. */
    private final Set<Place> used = new HashSet<>();
    /** A request to close it has arrived. */
    private final Set<Place> closing = new HashSet<>();
    /** Per session, a mutation that is resent when the session has ended. */
    private final Map<Place, Request> kept = new HashMap<>();
    /** Per session, the request that opened it; it is resent, too. */
    private final Map<Place, Request> keptOpenings = new HashMap<>();
    /** Shards at which sessions were opened since the last check: the opening may have taken another one's place. */
    private final BitSet opening = new BitSet();

    private final Map<Request, Integer> openings = new IdentityHashMap<>();
    /** Mutations that arrived after their sessions had ended. */
    private final Map<Request, Place> late = new IdentityHashMap<>();

    private @Nullable EmbeddedCluster incarnation;
    private long nextAtNs;
    private long lookedAtNs;
    private boolean resting;

    public SessionLeases(StoreScene scene, RandomSource random, long leaseNs) {
        this.scene = scene;
        this.random = random;
        this.leaseNs = leaseNs;
        this.vanishOneIn = 2 << random.nextInt(4);
    }

    // --- client operations ---

    @Override
    public void arrived(Request request) {
        final Place place = new Place(request.shard(), request.sessionId());
        switch (request.operation()) {
            case OPEN_SESSION -> {
                if (!over.contains(place)) {
                    opening.set(request.shard());
                    openings.put(request, request.shard());
                    keptOpenings.put(place, RequestCopy.of(request));
                }
            }
            case CLOSE_SESSION -> closing.add(place);
            default -> {
                if (request.operation().isMutation() && request.sequence() != 0) {
                    used.add(place);
                    if (ended.contains(place)) {
                        late.put(request, place);
                    } else if (random.nextInt(KEPT_ONE_IN) == 0) {
                        kept.put(place, RequestCopy.of(request));
                    }
                }
            }
        }
    }

    @Override
    public void answered(Request request) {
        final boolean decided = switch (request.status()) {
            case OK, NOT_FOUND, CONDITION_FAILED -> true;
            default -> false;
        };
        if (openings.remove(request) != null) {
            opening.set(request.shard());
        }
        final Place end = late.remove(request);
        if (end != null) {
            scene.count("mutations that arrived behind the end of their session", 1);
            if (decided) {
                scene.violation("a mutation of session " + name(end) + " was answered " + request.status()
                        + ", and had arrived when its session had ended");
            }
        }
        if (decided && request.operation() == Operation.OPEN_SESSION) {
            final Place place = new Place(request.shard(), request.sessionId());
            if (!over.contains(place) && ended.remove(place)) {
                scene.count("unused sessions that were opened again", 1);
            }
            // A late copy of an opening does not renew the lease.
            usedAtNs.putIfAbsent(place, scene.nowNs());
        } else if (decided && request.sessionId() != 0 && request.operation() != Operation.CLOSE_SESSION) {
            usedAtNs.put(new Place(request.shard(), request.sessionId()), scene.nowNs());
        }
        if (request.status() == Status.SESSION_EXPIRED) {
            scene.count("requests answered SESSION_EXPIRED", 1);
        }
    }

    private static String name(Place place) {
        return Long.toHexString(place.sessionId()) + " of shard " + place.shard();
    }

    // --- its steps ---

    @Override
    public long readyAtNs() {
        return nextAtNs;
    }

    @Override
    public void step() {
        nextAtNs = scene.nowNs() + leaseNs / LOOKS_PER_LEASE;
        if (!scene.isUp()) {
            return;
        }
        look();
        if (random.nextInt(vanishOneIn) == 0 && scene.vanish()) {
            scene.count("clients that vanished", 1);
        }
    }

    private void look() {
        final EmbeddedCluster now = scene.cluster();
        // A session met for the first time has been open since then at most. After a start, all have a whole lease from
        // when the store served again, which was later than that, too.
        final long sinceNs = lookedAtNs;
        if (now != incarnation) {
            incarnation = now;
            open.clear(); // how each of them ended in between is unknown
            opening.clear();
            usedAtNs.clear();
        }
        lookedAtNs = scene.nowNs();
        final Set<Place> found = new HashSet<>();
        final BitSet moving = new BitSet();
        for (int shard = 0; shard < now.configuration().shardCount(); shard++) {
            final Server primary =
                    now.servers().get(now.configuration().shard(shard).primary());
            if (!primary.isPrimary(shard)) { // it is moving: not all may have been digested there
                final int passed = shard;
                open.stream().filter(place -> place.shard() == passed).forEach(found::add);
                moving.set(shard);
                continue;
            }
            for (long sessionId : primary.replicas().get(shard).sessions().openIds()) {
                final Place place = new Place(shard, sessionId);
                found.add(place);
                if (over.contains(place)) {
                    scene.violation("session " + name(place) + " had ended, and is open again");
                }
                ended.remove(place); // its reply is in flight
                if (usedAtNs.putIfAbsent(place, sinceNs) == null && scene.isRead()) {
                    scene.tell("session " + name(place) + " is open");
                }
            }
        }
        for (Iterator<Place> all = open.iterator(); all.hasNext(); ) {
            final Place place = all.next();
            if (!found.contains(place)) {
                all.remove();
                ended(place);
            }
        }
        open.addAll(found);
        opening.and(moving); // they were not looked at
    }

    private void ended(Place place) {
        if (scene.isRead()) {
            scene.tell("session " + name(place) + " has ended");
        }
        ended.add(place);
        if (used.contains(place)) {
            over.add(place);
        }
        final Long usedNs = usedAtNs.remove(place);
        final Request opened = keptOpenings.remove(place);
        final Request last = kept.remove(place);
        if (closing.remove(place)) {
            scene.count("sessions that their clients closed", 1);
        } else if (opening.get(place.shard()) || openings.containsValue(place.shard())) {
            scene.count("sessions that may have given way to others", 1);
        } else {
            scene.count("sessions that ended with their lease", 1);
            if (usedNs != null && scene.nowNs() - usedNs < leaseNs - leaseNs / DRIFT) {
                scene.violation("session " + name(place) + " has ended " + (scene.nowNs() - usedNs)
                        + " ns after its last answer, within its lease of " + leaseNs + " ns");
            }
        }
        if (resting) {
            return;
        }
        if (opened != null) {
            scene.deliver(opened);
        }
        if (last != null) {
            scene.deliver(last);
        }
    }

    // --- pauses ---

    @Override
    public void rest() {
        resting = true;
        try {
            look();
            openings.clear(); // the requests of dead callers are finished
            if (random.nextInt(WAIT_ONE_IN) == 0) {
                awaitEnds();
            }
            requireSameEverywhere();
        } finally {
            resting = false;
        }
    }

    /** No client sends a request: all open sessions belong to silent clients. */
    private void awaitEnds() {
        final long sinceNs = scene.nowNs();
        for (int looks = 0; !open.isEmpty(); looks++) {
            scene.requireServing();
            // At least this many steps, so that each agent has run, however short the lease.
            if (looks > LEAST_LOOKS && scene.nowNs() - sinceNs > LEASES_TO_END * leaseNs + REST_NS) {
                scene.violation("sessions of silent clients have not ended in " + LEASES_TO_END + " leases: "
                        + open.stream().map(SessionLeases::name).sorted().toList() + "; "
                        + scene.cluster().statistics());
            }
            scene.park(leaseNs / LOOKS_PER_LEASE);
            look();
        }
        scene.count("rests at which all sessions ended", 1);
    }

    /** Leases also end during pauses: backups may not have digested yet what the primary has just ended. */
    private void requireSameEverywhere() {
        String difference = "";
        for (int look = 0; look < MOST_LOOKS; look++) {
            scene.requireServing();
            scene.cluster().awaitDigested();
            difference = difference();
            if (difference.isEmpty()) {
                return;
            }
        }
        scene.violation(difference);
    }

    private String difference() {
        final Configuration configuration = scene.cluster().configuration();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final ShardSessions primary = sessions(assignment.primary(), shard);
            final long[] expected = settled(primary, primary);
            for (int backup : assignment.backups()) {
                final long[] found = settled(sessions(backup, shard), primary);
                if (assignment.isComplete(backup) && !Arrays.equals(expected, found)) {
                    return "sessions open at shard " + shard + ": server " + assignment.primary() + " has "
                            + Arrays.toString(expected) + ", its backup " + backup + " " + Arrays.toString(found);
                }
            }
        }
        return "";
    }

    private ShardSessions sessions(int server, int shard) {
        return scene.cluster().servers().get(server).replicas().get(shard).sessions();
    }

    /** Excludes sessions that the primary is ending: the record may have taken effect on some backups already. */
    private static long[] settled(ShardSessions sessions, ShardSessions primary) {
        return Arrays.stream(sessions.openIds())
                .filter(id -> !primary.of(id).isEnding(id))
                .sorted()
                .toArray();
    }

    @Override
    public String toString() {
        return "session leases";
    }
}
