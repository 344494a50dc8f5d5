package org.rowankv.server.frontend;

import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.RoutingDescriptor;
import org.rowankv.topology.ShardMap;

/**
 * The routing of a client port: the one in force, by which requests are admitted, and the one that clients know.
 *
 * <p>They differ for a while after a hand-over. The former primary serves its shard until the next one waits for that, so
 * a client that knew too early would wait at a server that is not open yet. It learns of it when a shard has left this server
 * or was opened here, and otherwise after 20 ms: a third server does not see either. One such shard suffices, although others
 * may still be served by their former primaries.
 *
 * <p>Any thread reads and announces; one at a time sets what is in force.
 */
final class PortRouting {
    private static final long HAND_OVER_NS = 20_000_000;

    /** A routing, and what is derived from it once. */
    private record Encoded(Routing routing, byte[] bytes, KeyHash keyHash) {
        static Encoded of(Routing routing) {
            return new Encoded(
                    routing,
                    RoutingDescriptor.encode(routing),
                    new KeyHash(routing.configuration().hashSeed()));
        }

        Configuration configuration() {
            return routing.configuration();
        }

        long term() {
            return routing.term();
        }
    }

    private final AtomicReference<@Nullable Encoded> announced = new AtomicReference<>();
    private volatile @Nullable Encoded inForce;
    /** When clients learn of it at the latest. */
    private volatile long untilNs;

    /** Whether there is one. */
    boolean isSet() {
        return inForce != null;
    }

    /** Sets it, for clients too. */
    void set(Routing routing) {
        final Encoded next = Encoded.of(routing);
        announced.set(next);
        inForce = next;
    }

    /** Puts a routing in force; {@link #announce} tells clients. False if its term is not newer. */
    boolean follow(Routing routing, long nowNs) {
        final Configuration before = present().configuration();
        final Configuration next = routing.configuration();
        if (next.term() <= before.term()) {
            return false;
        }
        untilNs = next.handsOver(before) ? nowNs + HAND_OVER_NS : nowNs;
        inForce = Encoded.of(routing);
        return true;
    }

    /** Whether clients are to learn of the routing in force because of the time alone. */
    boolean isDue(long nowNs) {
        return isAnnouncing() && nowNs - untilNs >= 0;
    }

    /** Whether clients have yet to learn of the routing in force; not so before the port serves. */
    boolean isAnnouncing() {
        return isSet() && known().term() < present().term();
    }

    /** Decides whether it is time to tell clients; true if they get another routing from now on. Never blocks. */
    boolean announce(RequestBackend served, long nowNs) {
        final Encoded next = present();
        final Encoded before = known();
        if (next.term() <= before.term() || nowNs - untilNs < 0 && !hasMoved(before, next, served)) {
            return false;
        }
        final Encoded replaced =
                required(announced.getAndUpdate(now -> now != null && now.term() >= next.term() ? now : next));
        return replaced.term() < next.term();
    }

    /** Whether a shard that is handed over has left this server, or is open here. */
    private static boolean hasMoved(Encoded from, Encoded to, RequestBackend served) {
        final Configuration before = from.configuration();
        final Configuration now = to.configuration();
        final int here = served.serverId();
        return IntStream.range(0, now.shardCount())
                .anyMatch(shard -> now.isHandedOver(shard, before)
                        && (before.shard(shard).primary() == here && !served.isPrimary(shard)
                                || now.shard(shard).primary() == here && served.isPrimary(shard)));
    }

    /** The routing in force. */
    Routing inForce() {
        return present().routing();
    }

    /** As announced to clients. */
    Routing announced() {
        return known().routing();
    }

    /** The same, encoded. */
    @SuppressWarnings("ReturnsArray") // shared and immutable by convention
    byte[] announcedBytes() {
        return known().bytes();
    }

    /** Sets hash and shard of the request; false if the client sent it to another shard. */
    boolean place(Request request, int shard) {
        final Encoded now = present();
        final Operation operation = request.operation();
        if (operation != Operation.CLEAR
                && operation != Operation.OPEN_SESSION
                && operation != Operation.CLOSE_SESSION) {
            final long hash =
                    now.keyHash().hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
            if (ShardMap.shardOf(hash, now.configuration().shardCount()) != shard) {
                return false;
            }
            request.placed(hash, shard);
        }
        return true;
    }

    private Encoded present() {
        return required(inForce);
    }

    private Encoded known() {
        return required(announced.get());
    }

    private static Encoded required(@Nullable Encoded routing) {
        if (routing == null) {
            throw new IllegalStateException("the client port does not serve yet");
        }
        return routing;
    }
}
