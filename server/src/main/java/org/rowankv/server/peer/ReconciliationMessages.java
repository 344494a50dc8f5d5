package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.server.opening.CollectedAnswer;
import org.rowankv.server.recovery.LogReconciliation;
import org.rowankv.server.recovery.RecoveredReplicas;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.topology.Configuration;

/**
 * The reconciliation of logs between servers in separate processes: the recovered replicas of the others, asked by
 * messages, and the answers to theirs. What arrives may be forged or damaged.
 */
public final class ReconciliationMessages {
    private static final int MOST_VERSIONS = CollectedAnswer.MOST_VERSIONS;

    private final Configuration configuration;
    private final RecoveredServer own;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    private final LogReconciliation reconciliation;
    /** By shard of another primary: versions that some replica lacks. Of the thread that answers. */
    private final Map<Integer, Set<Long>> lackingSomewhere = new HashMap<>();

    public ReconciliationMessages(
            Configuration configuration, RecoveredServer own, PeerCalls calls, PeerCalls.Patience patience) {
        this.configuration = configuration;
        this.own = own;
        this.calls = calls;
        this.patience = patience;
        this.reconciliation = new LogReconciliation(configuration, own, this::replicas);
    }

    /** Its steps as the primary are for the thread that starts the server. */
    public LogReconciliation reconciliation() {
        return reconciliation;
    }

    RecoveredReplicas replicas(int server) {
        return new Remote(server);
    }

    private @Nullable String whyInvalid(int shard, long version, ByteBuffer entry) {
        final int epoch = configuration.shard(shard).epoch();
        return Version.epoch(version) >= epoch
                ? "version " + Version.toString(version) + ", but epoch " + epoch + " is new"
                : CollectedAnswer.whyInvalid(
                        shard, version, entry, own.segments().length());
    }

    /** The replicas of another server. */
    private final class Remote implements RecoveredReplicas {
        private final int server;

        Remote(int server) {
            this.server = server;
        }

        /** @throws IllegalStateException if the server's answer is impossible */
        @Override
        public long collect(int shard, long commitVersion, Set<Long> versions) {
            final int epoch = configuration.shard(shard).epoch();
            long above = commitVersion;
            while (true) {
                final ByteBuffer answer = ask(PeerRequestType.COLLECT, shard, above, ByteBuffer.allocate(0));
                final ByteBuffer found = PeerMessageDescriptor.payload(answer);
                final long known = PeerMessageDescriptor.argument(answer);
                final String reason = CollectedAnswer.whyImpossible(epoch, above, known, found);
                if (reason != null) {
                    throw new IllegalStateException(
                            "the answer of server " + server + " about shard " + shard + " is impossible: " + reason);
                }
                int count = 0;
                while (found.hasRemaining()) {
                    above = found.getLong();
                    versions.add(above);
                    count++;
                }
                if (count < MOST_VERSIONS) {
                    return known;
                }
            }
        }

        /** Sends the versions in parts that fit into messages, the last one marked. */
        @Override
        public void keepOnly(int shard, Set<Long> lacking) {
            final Iterator<Long> versions = lacking.iterator();
            do {
                final ByteBuffer part = ByteBuffer.allocate(Math.min(lacking.size(), MOST_VERSIONS) * Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
                while (versions.hasNext() && part.hasRemaining()) {
                    part.putLong(versions.next());
                }
                final ByteBuffer unused = ask(PeerRequestType.LACKING, shard, versions.hasNext() ? 1 : 0, part.flip());
            } while (versions.hasNext());
        }

        /** @throws IllegalStateException if the server's answer is no such entry */
        @Override
        public ByteBuffer fetch(int shard, long version) {
            final ByteBuffer entry =
                    PeerMessageDescriptor.payload(ask(PeerRequestType.FETCH, shard, version, ByteBuffer.allocate(0)));
            requireValid(shard, version, entry);
            return entry;
        }

        @Override
        public void take(int shard, long version, ByteBuffer entry) {
            final ByteBuffer unused = ask(PeerRequestType.TAKE, shard, version, entry);
        }

        private ByteBuffer ask(int question, int shard, long argument, ByteBuffer payload) {
            return calls.ask(server, question, shard, argument, payload, patience);
        }
    }

    private void requireValid(int shard, long version, ByteBuffer entry) {
        final String reason = whyInvalid(shard, version, entry);
        if (reason != null) {
            throw new IllegalStateException("another server sent an invalid entry of shard " + shard + ": " + reason);
        }
    }

    /** An answer: its argument and payload. */
    record Answer(long argument, ByteBuffer payload) {
        private static Answer empty(long argument) {
            return new Answer(argument, ByteBuffer.allocate(0));
        }
    }

    /**
     * Answers a request of a shard's primary.
     *
     * @return payload and argument of the answer; null if there is none
     */
    @Nullable
    Answer answer(int from, int question, int shard, long argument, ByteBuffer payload) {
        if (shard < 0
                || shard >= configuration.shardCount()
                || configuration.shard(shard).primary() != from
                || !configuration.shard(shard).isComplete(own.serverId())) {
            return null; // the sender is not its primary
        }
        switch (question) {
            case PeerRequestType.COLLECT -> {
                return collected(shard, argument);
            }
            case PeerRequestType.LACKING -> {
                return lacking(shard, argument == 0, payload);
            }
            case PeerRequestType.FETCH -> {
                final ByteBuffer entry = reconciliation.fetch(shard, argument);
                return entry == null ? null : new Answer(argument, entry);
            }
            case PeerRequestType.TAKE -> {
                requireValid(shard, argument, payload);
                reconciliation.take(shard, argument, payload);
                return Answer.empty(argument);
            }
            default -> {
                return null;
            }
        }
    }

    private Answer collected(int shard, long above) {
        final Set<Long> versions = new TreeSet<>();
        final long commitVersion = reconciliation.collect(shard, above, versions);
        final int count = Math.min(versions.size(), MOST_VERSIONS);
        final ByteBuffer payload = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        versions.stream().limit(count).forEach(payload::putLong);
        return new Answer(commitVersion, payload.flip());
    }

    /**
     * Receives a part of the versions that some replica of the shard lacks. A part may arrive repeatedly, also after
     * the last one.
     *
     * @param isLast whether all of them are known now; other entries need not be candidates any more
     */
    private @Nullable Answer lacking(int shard, boolean isLast, ByteBuffer versions) {
        if (versions.remaining() % Long.BYTES != 0 || versions.remaining() / Long.BYTES > MOST_VERSIONS) {
            return null;
        }
        final Set<Long> lacking = lackingSomewhere.computeIfAbsent(shard, one -> new HashSet<>());
        while (versions.hasRemaining()) {
            lacking.add(versions.getLong());
        }
        if (isLast) {
            reconciliation.keepOnly(shard, lacking);
        }
        return Answer.empty(0);
    }
}
