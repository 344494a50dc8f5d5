package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.MessageHandler;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of one start of a server: answers go to whoever asked, questions are answered. A question of another term
 * than the one adopted here, or of another start of a server than the one that has its roles in it, is not answered; who
 * asks too early asks again. Turned by an agent of its own.
 */
public final class PeerMessages implements MessageHandler, Agent {
    private static final Logger LOG = LoggerFactory.getLogger(PeerMessages.class);

    private static final int MESSAGES_PER_TURN = 64;
    /** While it is woken up for whatever comes. */
    private static final long REST_NS = 250_000_000;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final int serverId;
    private final ErrorLog errors;
    /** Does what may block. */
    private final Executor chores;
    /** Questions of others that a chore is at work on. */
    private final Set<Long> chored = ConcurrentHashMap.newKeySet();

    private final Set<Integer> compared = ConcurrentHashMap.newKeySet();
    private final Set<Integer> collected = ConcurrentHashMap.newKeySet();
    private final Set<Integer> ready = ConcurrentHashMap.newKeySet();

    private volatile @Nullable Endpoint endpoint;
    private volatile @Nullable Configuration configuration;
    private volatile @Nullable PeerCalls calls;
    private volatile @Nullable LogReconciliation exchange;
    private volatile @Nullable SpaceReclaimer pressure;
    private volatile @Nullable ClusterCatalogue catalogue;

    public PeerMessages(int serverId, ErrorLog errors, Executor chores) {
        this.serverId = serverId;
        this.errors = errors;
        this.chores = chores;
    }

    /** From now on messages are looked for. */
    public void use(Endpoint opened) {
        endpoint = opened;
    }

    /** From now on questions of that configuration's term are answered. */
    public void adopt(Configuration adopted, PeerCalls newCalls, LogReconciliation newExchange) {
        calls = newCalls;
        exchange = newExchange;
        configuration = adopted;
    }

    /** The exchange is over, and the server is about to serve. */
    public void serve(SpaceReclaimer newPressure, ClusterCatalogue newCatalogue) {
        exchange = null;
        catalogue = newCatalogue;
        pressure = newPressure;
    }

    /** The servers that said that their shards are compared. */
    public Set<Integer> compared() {
        return compared;
    }

    /** The servers that said that their shards are collected. */
    public Set<Integer> collected() {
        return collected;
    }

    /** The servers that said that they are ready. */
    public Set<Integer> ready() {
        return ready;
    }

    @Override
    public String roleName() {
        return "messages-" + serverId;
    }

    @Override
    public int doWork() {
        final Endpoint own = endpoint;
        final SpaceReclaimer rounds = pressure;
        return (own == null ? 0 : own.pollMessages(MESSAGES_PER_TURN)) + (rounds == null ? 0 : rounds.doWork());
    }

    @Override
    public long idleNs() {
        final SpaceReclaimer rounds = pressure;
        return rounds != null && rounds.isIdle() ? REST_NS : 0;
    }

    @Override
    public void onMessage(int from, long incarnation, ByteBuffer message) {
        message.order(ByteOrder.LITTLE_ENDIAN);
        final String reason = PeerMessageDescriptor.whyInvalid(message);
        if (reason != null) {
            errors.reportExpected("a message of server " + from, new IllegalArgumentException(reason));
            return;
        }
        final Configuration adopted = configuration;
        final PeerCalls waiting = calls;
        if (adopted == null
                || waiting == null
                || PeerMessageDescriptor.term(message) != adopted.term()
                || from < 0
                || from >= adopted.serverCount()
                || adopted.incarnations().get(from) != incarnation) {
            return;
        }
        if (PeerMessageDescriptor.isAnswer(message)) {
            waiting.answered(from, message);
        } else {
            asked(from, message);
        }
    }

    private void asked(int from, ByteBuffer message) {
        switch (PeerMessageDescriptor.question(message)) {
            case PeerRequestType.COLLECT, PeerRequestType.LACKING, PeerRequestType.FETCH, PeerRequestType.TAKE ->
                exchanged(from, message);
            case PeerRequestType.COMPARED -> {
                compared.add(from);
                answer(from, message, 0, NOTHING);
            }
            case PeerRequestType.COLLECTED -> {
                collected.add(from);
                answer(from, message, 0, NOTHING);
            }
            case PeerRequestType.READY -> {
                ready.add(from);
                answer(from, message, 0, NOTHING);
            }
            case PeerRequestType.MAKE_ROOM -> {
                final SpaceReclaimer rounds = pressure;
                if (rounds != null) {
                    rounds.makeRoom(from, message);
                }
            }
            case PeerRequestType.CATALOGUE -> chore(from, message, ClusterCatalogue::applyLimits);
            case PeerRequestType.DESTROY -> destroy(from, message);
            default ->
                errors.reportExpected(
                        "a message of server " + from,
                        new IllegalArgumentException("question " + PeerMessageDescriptor.question(message)));
        }
    }

    private void destroy(int from, ByteBuffer message) {
        final long cacheId = PeerMessageDescriptor.argument(message);
        if (CatalogueStore.isId(cacheId)) {
            chore(from, message, caches -> caches.destroyHere((int) cacheId));
        } else {
            errors.reportExpected("a message of server " + from, new IllegalArgumentException("cache id " + cacheId));
        }
    }

    private void exchanged(int from, ByteBuffer message) {
        final LogReconciliation present = exchange;
        if (present == null) {
            return;
        }
        final LogReconciliation.Answer answer = present.answer(
                from,
                PeerMessageDescriptor.question(message),
                PeerMessageDescriptor.shard(message),
                PeerMessageDescriptor.argument(message),
                PeerMessageDescriptor.payload(message));
        if (answer != null) {
            answer(from, message, answer.argument(), answer.payload());
        }
    }

    private void chore(int from, ByteBuffer message, java.util.function.Consumer<ClusterCatalogue> work) {
        final ClusterCatalogue caches = catalogue;
        final long key = PeerMessageDescriptor.number(message) << 8 | from;
        if (caches == null || !chored.add(key)) {
            return;
        }
        chores.execute(() -> {
            try {
                work.accept(caches);
                answer(from, message, 0, NOTHING);
            } catch (StaleTermException e) {
                LOG.debug("what server {} asked for is left to the next start", from, e);
            } catch (ConfigurationStoreException e) {
                errors.reportExpected("what server " + from + " asked for", e); // it asks again
            } catch (RuntimeException e) {
                errors.report("what server " + from + " asked for", e); // it asks again
            } finally {
                chored.remove(key);
            }
        });
    }

    /** Answers a question. Any thread. */
    public void answer(int to, ByteBuffer question, long argument, ByteBuffer payload) {
        final Endpoint own = endpoint;
        if (own != null) {
            // Should it be lost, the question comes again.
            final int unused = own.message(
                    to,
                    PeerMessageDescriptor.write(
                            PeerMessageDescriptor.question(question),
                            true,
                            PeerMessageDescriptor.shard(question),
                            PeerMessageDescriptor.term(question),
                            PeerMessageDescriptor.number(question),
                            argument,
                            payload));
        }
    }
}
