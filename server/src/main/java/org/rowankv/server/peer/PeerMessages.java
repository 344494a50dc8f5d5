package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
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
 * Message handler of one start of a server: delivers answers to pending calls, and answers requests. A request of
 * another term than the adopted one, or of another incarnation than the one with roles in it, is not answered; an early
 * sender resends it. Run by its own agent.
 */
public final class PeerMessages implements MessageHandler, Agent {
    private static final Logger LOG = LoggerFactory.getLogger(PeerMessages.class);

    private static final int MESSAGES_PER_TURN = 64;
    /** Idle time while new messages wake the agent. */
    private static final long IDLE_NS = 250_000_000;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Receives requests and answers about authority, configurations and copies. */
    public interface ControlHandler {
        /** Of a member's present process. Must not wait. */
        void onMessage(int from, long incarnation, ByteBuffer message);
    }

    private final int serverId;
    private final ErrorLog errors;
    /** Runs tasks that may block. */
    private final Executor deferred;
    /** Requests of others with a queued or running task. */
    private final Set<Long> deferredRequests = ConcurrentHashMap.newKeySet();

    private final Set<Integer> compared = ConcurrentHashMap.newKeySet();
    private final Set<Integer> collected = ConcurrentHashMap.newKeySet();
    private final Set<Integer> ready = ConcurrentHashMap.newKeySet();

    private volatile @Nullable Endpoint endpoint;
    private volatile @Nullable Configuration configuration;
    private volatile @Nullable PeerCalls calls;
    private volatile @Nullable ReconciliationMessages reconciliation;
    private volatile @Nullable SpaceReclaimer pressure;
    private volatile @Nullable ClusterCatalogue catalogue;
    private volatile @Nullable ControlHandler control;

    public PeerMessages(int serverId, ErrorLog errors, Executor deferred) {
        this.serverId = serverId;
        this.errors = errors;
        this.deferred = deferred;
    }

    /** Starts to poll that endpoint. */
    public void use(Endpoint opened) {
        endpoint = opened;
    }

    /** Starts to answer requests of that configuration's term. */
    public void adopt(Configuration adopted, PeerCalls newCalls, ReconciliationMessages newReconciliation) {
        calls = newCalls;
        reconciliation = newReconciliation;
        configuration = adopted;
    }

    /** Sets the receiver of messages about authority, configurations and copies. */
    public void control(ControlHandler handler) {
        control = handler;
    }

    /** Starts to answer the members of a later configuration, and no others. */
    public void follow(Configuration prepared) {
        configuration = prepared;
    }

    /** Starts to answer and to call the members of that configuration, without a common start. */
    public void join(Configuration prepared, PeerCalls newCalls) {
        calls = newCalls;
        configuration = prepared;
    }

    /** The reconciliation is over, and the server is about to serve. */
    public void serve(SpaceReclaimer newPressure, ClusterCatalogue newCatalogue) {
        reconciliation = null;
        catalogue = newCatalogue;
        pressure = newPressure;
    }

    /** The servers that reported their shards as compared. */
    public Set<Integer> compared() {
        return compared;
    }

    /** The servers that reported their shards as collected. */
    public Set<Integer> collected() {
        return collected;
    }

    /** The servers that reported readiness. */
    public Set<Integer> ready() {
        return ready;
    }

    /** Other members without a report of the first step that not all have reported; empty if they all have. */
    public Set<Integer> unheard(Configuration of) {
        final Set<Integer> unheard = new TreeSet<>();
        for (Set<Integer> heard : List.of(compared, collected, ready)) {
            if (unheard.isEmpty()) {
                unheard.addAll(of.members());
                unheard.remove(serverId);
                unheard.removeAll(heard);
            }
        }
        return unheard;
    }

    @Override
    public String roleName() {
        return "messages-" + serverId;
    }

    @Override
    public int doWork() {
        final Endpoint own = endpoint;
        final SpaceReclaimer reclaimer = pressure;
        return (own == null ? 0 : own.pollMessages(MESSAGES_PER_TURN)) + (reclaimer == null ? 0 : reclaimer.doWork());
    }

    @Override
    public long idleNs() {
        final SpaceReclaimer reclaimer = pressure;
        return reclaimer != null && reclaimer.isIdle() ? IDLE_NS : 0;
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
        if (adopted == null || waiting == null || !adopted.names(from, incarnation)) {
            return;
        }
        final int question = PeerMessageDescriptor.question(message);
        if (isControl(question)) {
            control(from, incarnation, message);
        } else if (PeerMessageDescriptor.isAnswer(message)) {
            waiting.answered(from, message);
        } else if (isOfStart(question) && PeerMessageDescriptor.term(message) != adopted.term()) {
            return; // of another start
        } else {
            asked(from, incarnation, message);
        }
    }

    /** Whether the handler receives answers too. */
    private static boolean isControl(int question) {
        return switch (question) {
            case PeerRequestType.LEASE,
                    PeerRequestType.CONFIRM,
                    PeerRequestType.COMPLETED,
                    PeerRequestType.RENEW,
                    PeerRequestType.COPY_ANNOUNCED,
                    PeerRequestType.COPIED,
                    PeerRequestType.PRESENT,
                    PeerRequestType.OPENING -> true;
            default -> false;
        };
    }

    private static boolean isOfStart(int question) {
        return switch (question) {
            case PeerRequestType.COLLECT,
                    PeerRequestType.LACKING,
                    PeerRequestType.FETCH,
                    PeerRequestType.TAKE,
                    PeerRequestType.COMPARED,
                    PeerRequestType.COLLECTED,
                    PeerRequestType.READY -> true;
            default -> false;
        };
    }

    private void control(int from, long incarnation, ByteBuffer message) {
        final ControlHandler handler = control;
        if (handler != null) {
            handler.onMessage(from, incarnation, message);
        }
    }

    private void asked(int from, long incarnation, ByteBuffer message) {
        switch (PeerMessageDescriptor.question(message)) {
            case PeerRequestType.COLLECT, PeerRequestType.LACKING, PeerRequestType.FETCH, PeerRequestType.TAKE ->
                reconcile(from, message);
            case PeerRequestType.HEARS_MANAGER,
                    PeerRequestType.PREPARE,
                    PeerRequestType.COMMIT,
                    PeerRequestType.LEAVE,
                    PeerRequestType.FIND -> control(from, incarnation, message);
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
                final SpaceReclaimer reclaimer = pressure;
                if (reclaimer != null) {
                    reclaimer.makeRoom(from, message);
                }
            }
            case PeerRequestType.CATALOGUE ->
                defer(from, message, caches -> {
                    caches.applyLimits();
                    return NOTHING;
                });
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
            defer(
                    from,
                    message,
                    caches -> ByteBuffer.wrap(caches.destroyHere((int) cacheId).toByteArray()));
        } else {
            errors.reportExpected("a message of server " + from, new IllegalArgumentException("cache id " + cacheId));
        }
    }

    private void reconcile(int from, ByteBuffer message) {
        final ReconciliationMessages present = reconciliation;
        if (present == null) {
            return;
        }
        final ReconciliationMessages.Answer answer = present.answer(
                from,
                PeerMessageDescriptor.question(message),
                PeerMessageDescriptor.shard(message),
                PeerMessageDescriptor.argument(message),
                PeerMessageDescriptor.payload(message));
        if (answer != null) {
            answer(from, message, answer.argument(), answer.payload());
        }
    }

    private void defer(int from, ByteBuffer message, Function<ClusterCatalogue, ByteBuffer> work) {
        final ClusterCatalogue caches = catalogue;
        final long key = PeerMessageDescriptor.number(message) << 8 | from;
        if (caches == null || !deferredRequests.add(key)) {
            return;
        }
        deferred.execute(() -> {
            try {
                answer(from, message, 0, work.apply(caches));
            } catch (StaleTermException e) {
                LOG.debug("request of server {} left to the next start", from, e);
            } catch (ConfigurationStoreException e) {
                errors.reportExpected("a request of server " + from, e); // it is resent
            } catch (RuntimeException e) {
                errors.report("a request of server " + from, e); // it is resent
            } finally {
                deferredRequests.remove(key);
            }
        });
    }

    /** Sends a message, which may be lost. Thread-safe. */
    public void send(int to, ByteBuffer message) {
        final Endpoint own = endpoint;
        if (own != null) {
            final int unused = own.message(to, message);
        }
    }

    /** Answers a request. Thread-safe. */
    public void answer(int to, ByteBuffer question, long argument, ByteBuffer payload) {
        final Endpoint own = endpoint;
        if (own != null) {
            // If the answer is lost, the request is resent.
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
