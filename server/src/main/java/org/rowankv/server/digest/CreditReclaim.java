package org.rowankv.server.digest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.rowankv.rdma.Endpoint;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.Segments;

/**
 * Frees the space that excluded servers had acquired here as credit, and have not used. Only what has landed of them says
 * how much that is, so they must be fenced, and it must be digested. Shares its thread with the digest, and runs before
 * the shards of an excluded server are opened elsewhere: their next primary has credit of its own.
 */
public final class CreditReclaim implements Agent {
    private final int shards;
    private final DigestAgent digest;
    private final Endpoint endpoint;
    private final Segments segments;
    private final Queue<Excluded> toMark = new ConcurrentLinkedQueue<>();
    private final Deque<Excluded> marked = new ArrayDeque<>();

    private static final class Excluded {
        private final int server;
        private final long incarnation;
        private final List<Integer> shards = new ArrayList<>();
        private LandingPosition mark = LandingPosition.of(0, 0);
        private long drawn;

        Excluded(int server, long incarnation) {
            this.server = server;
            this.incarnation = incarnation;
        }
    }

    public CreditReclaim(int shards, DigestAgent digest, Endpoint endpoint, Segments segments) {
        this.shards = shards;
        this.digest = digest;
        this.endpoint = endpoint;
        this.segments = segments;
    }

    /** A server is fenced for good. What it drew stays its own, also if its shards go on before that is counted. Any thread. */
    public void excluded(int server, long incarnation, List<Integer> itsPrimaries) {
        itsPrimaries.forEach(shard -> digest.drawn().losesShard(shard, server));
        toMark.add(new Excluded(server, incarnation));
    }

    /** The roles in force are about to give another server a shard of one that runs on. Any thread. */
    public void handsOver(int shard, int former) {
        digest.drawn().losesShard(shard, former);
    }

    @Override
    public String roleName() {
        return "reclaim";
    }

    @Override
    public int doWork() {
        for (Excluded next = toMark.poll(); next != null; next = toMark.poll()) {
            next.mark = digest.landed();
            for (int shard = 0; shard < shards; shard++) {
                if (digest.drawn().isOf(shard, next.server)) {
                    next.shards.add(shard);
                }
            }
            marked.add(next);
        }
        if (marked.isEmpty()) {
            return 0;
        }
        int done = 0;
        final Iterator<Excluded> each = marked.iterator();
        while (each.hasNext()) {
            final Excluded excluded = each.next();
            excluded.shards.removeIf(shard -> {
                final boolean isDigested = digest.isDigested(excluded.mark, shard);
                excluded.drawn += isDigested ? digest.drawn().take(shard) : 0;
                return isDigested;
            });
            if (excluded.shards.isEmpty()) {
                excluded.drawn += digest.drawn().takeFormer(excluded.server);
                segments.space().release(endpoint.takeCredit(excluded.server, excluded.incarnation) - excluded.drawn);
                each.remove();
                done++;
            }
        }
        return done;
    }
}
