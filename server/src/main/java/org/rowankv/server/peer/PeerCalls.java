package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.Signal;

/**
 * Calls to other servers, repeated until they are answered. A message may be lost with either end, so every request may
 * arrive repeatedly and must be idempotent. For any thread except the one that delivers the answers.
 */
public final class PeerCalls {
    /** Resend interval of an unanswered request. */
    private static final long RESEND_NS = 100_000_000;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Ends a wait by an exception once it is pointless. */
    public interface Patience {
        void check();
    }

    private final Endpoint endpoint;
    private final LongSupplier term;
    private final Scheduling scheduling;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Call> pending = new ConcurrentHashMap<>();

    /** @param term supplies the present term */
    public PeerCalls(Endpoint endpoint, LongSupplier term, Scheduling scheduling) {
        this.endpoint = endpoint;
        this.term = term;
        this.scheduling = scheduling;
    }

    /** One pending request. */
    public final class Call {
        private final int server;
        private final long number;
        private final ByteBuffer message;
        private final Signal answered = scheduling.signal();
        private volatile @Nullable ByteBuffer answer;

        private Call(int server, int question, int shard, long argument, ByteBuffer payload) {
            this.server = server;
            this.number = numbers.incrementAndGet();
            this.message =
                    PeerMessageDescriptor.write(question, false, shard, term.getAsLong(), number, argument, payload);
            pending.put(number, this);
            send();
        }

        /** Sends or resends the request. */
        public void send() {
            // Any result: an unanswered request is resent.
            final int unused = endpoint.message(server, message.duplicate());
        }

        public boolean isAnswered() {
            return answer != null;
        }

        /** The whole message; null until it has arrived. */
        @Nullable
        ByteBuffer answer() {
            return answer;
        }

        public void abandon() {
            pending.remove(number);
        }

        /** The server that is asked. */
        public int server() {
            return server;
        }

        /** Waits for the answer; returns the whole message. */
        public ByteBuffer await(Patience patience) {
            final ByteBuffer message = awaitWhile(() -> true, patience);
            if (message == null) {
                throw new AssertionError("the wait ended without an answer");
            }
            return message;
        }

        /** As above, as long as the answer is needed; null if it is not any more. */
        public @Nullable ByteBuffer awaitWhile(BooleanSupplier needed, Patience patience) {
            try {
                while (true) {
                    final ByteBuffer message = answer;
                    if (message != null || !needed.getAsBoolean()) {
                        return message;
                    }
                    if (!answered.await(RESEND_NS)) {
                        patience.check();
                        send();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StaleTermException("interrupted");
            } finally {
                abandon();
            }
        }
    }

    public Call begin(int server, int question, int shard, long argument, ByteBuffer payload) {
        return new Call(server, question, shard, argument, payload);
    }

    public ByteBuffer ask(int server, int question, int shard, long argument, ByteBuffer payload, Patience patience) {
        return begin(server, question, shard, argument, payload).await(patience);
    }

    /** Sends the request to all of them, and waits for the answers of those that are among them still. */
    public void askAll(Supplier<List<Integer>> servers, int question, long argument, Patience patience) {
        askAll(servers, question, argument, answer -> {}, patience);
    }

    /** As above; each answer, a whole message, is passed on. */
    void askAll(
            Supplier<List<Integer>> servers,
            int question,
            long argument,
            Consumer<ByteBuffer> answers,
            Patience patience) {
        final List<Call> calls = new ArrayList<>();
        servers.get().forEach(server -> calls.add(begin(server, question, 0, argument, NOTHING)));
        try {
            for (Call call : calls) {
                final ByteBuffer answer = call.awaitWhile(() -> servers.get().contains(call.server), patience);
                if (answer != null) {
                    answers.accept(answer);
                }
            }
        } finally {
            calls.forEach(Call::abandon);
        }
    }

    /** Servers with an unanswered request. */
    public Set<Integer> unanswered() {
        final Set<Integer> servers = new TreeSet<>();
        for (Call call : pending.values()) {
            if (!call.isAnswered()) {
                servers.add(call.server);
            }
        }
        return servers;
    }

    /** Delivers an answer; one without a matching pending request is dropped. */
    void answered(int from, ByteBuffer message) {
        final Call waiting = pending.get(PeerMessageDescriptor.number(message));
        if (waiting != null
                && waiting.server == from
                && PeerMessageDescriptor.term(message) == PeerMessageDescriptor.term(waiting.message)
                && PeerMessageDescriptor.question(message) == PeerMessageDescriptor.question(waiting.message)
                && PeerMessageDescriptor.shard(message) == PeerMessageDescriptor.shard(waiting.message)) {
            waiting.answer = message;
            waiting.answered.give();
        }
    }
}
