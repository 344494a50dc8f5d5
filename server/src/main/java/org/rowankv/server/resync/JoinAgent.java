package org.rowankv.server.resync;

import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.digest.LandingPosition;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * The receiver's part of a re-replication: once all of a shard's copy has landed and taken effect, the replica is in
 * sync; once all of this server's are, it reports that. Shares its thread with the digest.
 */
public final class JoinAgent implements Agent {
    private static final int LOCK_OWNER = (1 << 20) + 6;
    private static final long AGAIN_NS = 1_000_000_000L;

    private final int serverId;
    private final DigestAgent digest;
    private final Segments segments;
    private final Replicas replicas;
    private final CopyListener listener;
    private final Clock clock;
    private final ErrorLog errors;
    private final Queue<Integer> landed = new ConcurrentLinkedQueue<>();
    private final Map<Integer, LandingPosition> undigested = new TreeMap<>();
    private boolean toTell;
    private long triedNs;
    private boolean tried;

    public JoinAgent(
            int serverId,
            DigestAgent digest,
            Segments segments,
            Replicas replicas,
            CopyListener listener,
            Clock clock,
            ErrorLog errors) {
        this.serverId = serverId;
        this.digest = digest;
        this.segments = segments;
        this.replicas = replicas;
        this.listener = listener;
        this.clock = clock;
        this.errors = errors;
        this.toTell = replicas.isJoining();
    }

    @Override
    public String roleName() {
        return "join";
    }

    /** An upcoming copy will take so many bytes. Any thread. */
    public void announced(long bytes) {
        segments.space().take(bytes);
    }

    /** The whole copy of a shard has landed here, and left some announced bytes unused. Any thread. */
    public void copied(int shard, long unused) {
        segments.space().release(unused);
        landed.add(shard);
    }

    @Override
    public int doWork() {
        if (!toTell) {
            return 0;
        }
        for (Integer shard = landed.poll(); shard != null; shard = landed.poll()) {
            undigested.put(shard, digest.landed());
        }
        int done = 0;
        final Iterator<Map.Entry<Integer, LandingPosition>> each =
                undigested.entrySet().iterator();
        while (each.hasNext()) {
            final Map.Entry<Integer, LandingPosition> next = each.next();
            if (digest.isDigested(next.getValue())) {
                segments.space().release(replicas.get(next.getKey()).joined(LOCK_OWNER));
                digest.joined(next.getKey());
                each.remove();
                done++;
            }
        }
        if (!replicas.isJoining()) {
            report();
        }
        return done;
    }

    /**
     * The configuration store may fail for a while, for example on a full disk: that is retried, and is no failure of
     * this agent.
     */
    private void report() {
        final long nowNs = clock.nanoTime();
        if (tried && nowNs - triedNs < AGAIN_NS) {
            return;
        }
        tried = true;
        triedNs = nowNs;
        try {
            toTell = !listener.joined(serverId);
        } catch (RuntimeException e) {
            errors.report("storing that server " + serverId + " holds complete replicas", e);
        }
    }
}
