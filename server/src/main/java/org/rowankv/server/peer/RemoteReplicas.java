package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.opening.CollectedAnswer;
import org.rowankv.server.scrub.PeerReplica;
import org.rowankv.server.scrub.PeerReplicas;
import org.rowankv.server.scrub.SiblingReplica;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

/**
 * The replicas of servers in other processes, asked by messages for whole entries in place of damaged ones.
 *
 * <p>An answer counts only if it was given after the damage was found, by a complete replica of the newest configuration
 * that this server has prepared: what is here was then acknowledged by that server, or copied to it, before it was asked.
 * So the newest committed entry of a key there is no older than the damaged one here.
 */
public final class RemoteReplicas implements PeerReplicas {
    private static final long RESEND_NS = 100_000_000;
    private static final int MOST_BYTES = 8 << 20;

    private record Place(int server, int shard, long position) {}

    /** The request for a place, and the last answer to one. */
    private final class Asked {
        private PeerCalls.Call call;
        private long sentNs = clock.nanoTime();
        private long cycles = -1;
        private List<ByteBuffer> entries = List.of();

        Asked(Place place) {
            this.call = begin(place);
        }

        /** Takes what was answered, and asks again. */
        void look(Place place) {
            final ByteBuffer answer = call.answer();
            final long nowNs = clock.nanoTime();
            if (answer != null) {
                cycles = PeerMessageDescriptor.argument(answer);
                entries = entriesOf(place.shard(), PeerMessageDescriptor.payload(answer), mostBytes);
                call.abandon();
                call = begin(place);
                sentNs = nowNs;
            } else if (nowNs - sentNs >= RESEND_NS) {
                call.send();
                sentNs = nowNs;
            }
        }
    }

    private final int serverId;
    private final Supplier<Configuration> prepared;
    private final PeerCalls calls;
    private final Clock clock;
    private final int mostBytes;
    private final Map<Place, Asked> asked = new HashMap<>();

    /**
     * @param prepared the newest configuration that this server has prepared
     * @param mostBytes of an entry
     */
    public RemoteReplicas(int serverId, Supplier<Configuration> prepared, PeerCalls calls, Clock clock, int mostBytes) {
        this.serverId = serverId;
        this.prepared = prepared;
        this.calls = calls;
        this.clock = clock;
        this.mostBytes = mostBytes;
    }

    private PeerCalls.Call begin(Place place) {
        return calls.begin(
                place.server(), PeerRequestType.FIND, place.shard(), place.position(), ByteBuffer.allocate(0));
    }

    @Override
    public List<PeerReplica> of(int shard) {
        final Configuration configuration = prepared.get();
        final List<PeerReplica> others = new ArrayList<>();
        for (int server : configuration.members()) {
            if (server != serverId && configuration.shard(shard).isComplete(server)) {
                others.add(new Remote(server, shard));
            }
        }
        return others;
    }

    @Override
    public void forget() {
        asked.values().forEach(each -> each.call.abandon());
        asked.clear();
    }

    private final class Remote implements PeerReplica {
        private final int server;
        private final int shard;

        Remote(int server, int shard) {
            this.server = server;
            this.shard = shard;
        }

        private boolean isThere() {
            final Configuration configuration = prepared.get();
            return configuration.isMember(server) && configuration.shard(shard).isComplete(server);
        }

        @Override
        public long digestCycles(long position) {
            if (!isThere()) {
                return GONE;
            }
            final Place place = new Place(server, shard, position);
            final Asked present = asked.computeIfAbsent(place, Asked::new);
            present.look(place);
            return present.cycles;
        }

        @Override
        public @Nullable ByteBuffer find(long position, Match match) {
            final Asked present = asked.get(new Place(server, shard, position));
            if (present == null || !isThere()) {
                return null;
            }
            return present.entries.stream().filter(match::test).findFirst().orElse(null);
        }
    }

    // --- the other end ---

    /** Answers a server that asks for entries: each behind its length. Null if this server has no complete replica. */
    public static @Nullable ByteBuffer answer(Server serving, int shard, long position) {
        final ShardReplica replica = shard < 0 || shard >= serving.replicas().shardCount()
                ? null
                : serving.replicas().find(shard);
        if (replica == null || replica.isJoining()) {
            return null;
        }
        final List<ByteBuffer> entries =
                new SiblingReplica(serving.segments(), replica, serving::digestCycles).all(position);
        final int bytes = entries.stream()
                .mapToInt(each -> Integer.BYTES + each.capacity())
                .sum();
        final ByteBuffer payload =
                ByteBuffer.allocate(Math.min(bytes, MOST_BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        for (ByteBuffer entry : entries) {
            if (payload.remaining() >= Integer.BYTES + entry.capacity()) {
                payload.putInt(entry.capacity()).put(entry.duplicate());
            }
        }
        return payload.flip();
    }

    /** The whole entries of the shard in a payload; what is none is left out. */
    static List<ByteBuffer> entriesOf(int shard, ByteBuffer payload, int mostBytes) {
        final List<ByteBuffer> entries = new ArrayList<>();
        while (payload.remaining() >= Integer.BYTES) {
            final int length = payload.getInt();
            if (length <= 0 || length > payload.remaining()) {
                return entries;
            }
            final ByteBuffer entry = payload.slice(payload.position(), length).order(ByteOrder.LITTLE_ENDIAN);
            payload.position(payload.position() + length);
            if (CollectedAnswer.whyInvalid(shard, entry, mostBytes) == null) {
                entries.add(entry);
            }
        }
        return entries;
    }
}
