package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.Endpoint;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.Signal;

/**
 * Questions to other servers, asked until they are answered: a message may be lost with either end, so every question may
 * arrive more than once, and must do no harm then. For any thread but the one that hands out the answers.
 */
public final class PeerCalls {
    /** Long before somebody would wonder. */
    private static final long AGAIN_NS = 100_000_000;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Says by an exception when there is no use in waiting any longer. */
    public interface Patience {
        void check();
    }

    private final Endpoint endpoint;
    private final long term;
    private final Scheduling scheduling;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, Call> pending = new ConcurrentHashMap<>();

    public PeerCalls(Endpoint endpoint, long term, Scheduling scheduling) {
        this.endpoint = endpoint;
        this.term = term;
        this.scheduling = scheduling;
    }

    /** One question on its way. */
    final class Call {
        private final int server;
        private final long number;
        private final ByteBuffer message;
        private final Signal answered = scheduling.signal();
        private volatile @Nullable ByteBuffer answer;

        private Call(int server, int question, int shard, long argument, ByteBuffer payload) {
            this.server = server;
            this.number = numbers.incrementAndGet();
            this.message = PeerMessageDescriptor.write(question, false, shard, term, number, argument, payload);
            pending.put(number, this);
            send();
        }

        /** Sends it, or sends it again. */
        void send() {
            // Whatever becomes of it: it is sent again.
            final int unused = endpoint.message(server, message.duplicate());
        }

        boolean isAnswered() {
            return answer != null;
        }

        void giveUp() {
            pending.remove(number);
        }

        /** Waits for the answer: the whole message. */
        ByteBuffer await(Patience patience) {
            try {
                while (true) {
                    final ByteBuffer message = answer;
                    if (message != null) {
                        return message;
                    }
                    if (!answered.await(AGAIN_NS)) {
                        patience.check();
                        send();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StaleTermException("interrupted");
            } finally {
                giveUp();
            }
        }
    }

    Call begin(int server, int question, int shard, long argument, ByteBuffer payload) {
        return new Call(server, question, shard, argument, payload);
    }

    ByteBuffer ask(int server, int question, int shard, long argument, ByteBuffer payload, Patience patience) {
        return begin(server, question, shard, argument, payload).await(patience);
    }

    /** Asks all of them, and waits for all answers. */
    public void askAll(List<Integer> servers, int question, long argument, Patience patience) {
        final List<Call> calls = new ArrayList<>();
        servers.forEach(server -> calls.add(begin(server, question, 0, argument, NOTHING)));
        try {
            calls.forEach(call -> call.await(patience));
        } finally {
            calls.forEach(Call::giveUp);
        }
    }

    /** Servers that owe an answer. */
    public Set<Integer> unanswered() {
        final Set<Integer> servers = new TreeSet<>();
        for (Call call : pending.values()) {
            if (!call.isAnswered()) {
                servers.add(call.server);
            }
        }
        return servers;
    }

    /** An answer came; one that no call waits for any more, or of another question, is dropped. */
    void answered(int from, ByteBuffer message) {
        final Call waiting = pending.get(PeerMessageDescriptor.number(message));
        if (waiting != null
                && waiting.server == from
                && PeerMessageDescriptor.term(message) == term
                && PeerMessageDescriptor.question(message) == PeerMessageDescriptor.question(waiting.message)
                && PeerMessageDescriptor.shard(message) == PeerMessageDescriptor.shard(waiting.message)) {
            waiting.answer = message;
            waiting.answered.give();
        }
    }
}
