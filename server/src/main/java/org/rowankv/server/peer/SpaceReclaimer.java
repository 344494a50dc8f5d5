package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.SpacePressure;

/**
 * What a worker without room asks of the servers around it, when these are other processes: all are asked to give back
 * what they have drawn ahead, to end what has expired, and the one that lacks room to make some. Each answers when nothing
 * more can be done about it; when all have, a round is over. Somebody who waits for two rounds has waited for one that
 * began after he came.
 *
 * <p>While a server is away no round ends, and nobody is told that a store is full.
 *
 * <p>Asked by any thread; the rounds are turned by one agent.
 */
public final class SpaceReclaimer implements SpacePressure, Agent {
    private static final long AGAIN_NS = 100_000_000;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Sends an answer. */
    public interface Answers {
        void answer(int to, ByteBuffer question, long argument, ByteBuffer payload);
    }

    /** A question of another server that waits for this server's agents. */
    private record Asked(int from, ByteBuffer question, long quietCycles, long sinceNs) {}

    private final Server own;
    private final List<Integer> others;
    private final PeerCalls calls;
    private final Answers answers;
    private final Clock clock;
    private final Runnable awake;
    /** By server: whether somebody lacks room there. */
    private final AtomicIntegerArray lacking;

    private final ConcurrentLinkedQueue<Asked> asked = new ConcurrentLinkedQueue<>();
    private volatile boolean wanted;
    private final OwnedCounter rounds = new OwnedCounter();
    private volatile long lastBeganNs;
    private volatile boolean anyEnded;

    /** Of the round under way. */
    private final List<PeerCalls.Call> underWay = new ArrayList<>();

    private long beganNs;
    private long sentNs;

    /** @param awake wakes up who turns this */
    public SpaceReclaimer(
            Server own,
            int serverCount,
            List<Integer> others,
            PeerCalls calls,
            Answers answers,
            Clock clock,
            Runnable awake) {
        this.own = own;
        this.others = List.copyOf(others);
        this.calls = calls;
        this.answers = answers;
        this.clock = clock;
        this.awake = awake;
        this.lacking = new AtomicIntegerArray(serverCount);
    }

    @Override
    public String roleName() {
        return "pressure";
    }

    // --- asked by workers ---

    @Override
    public void wakeUp(int server) {
        own.wakeUp(); // the agents of others look by themselves
    }

    @Override
    public void requestSpace(int server) {
        final boolean unused = own.releaseGrants();
        own.endExpired();
        if (server == own.serverId()) {
            own.requestSpace();
        } else {
            lacking.set(server, 1);
        }
        want();
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        if (own.isExpiring(sinceNs)) {
            return true;
        }
        if (others.isEmpty() || anyEnded && lastBeganNs - sinceNs >= 0) {
            return false;
        }
        want();
        return true;
    }

    @Override
    public long quietCycles(int server) {
        if (server == own.serverId()) {
            return own.quietCycles();
        }
        want();
        return rounds.get();
    }

    // --- asked by other servers ---

    /** Somebody elsewhere lacks room, here or at another server. */
    void makeRoom(int from, ByteBuffer question) {
        final boolean unused = own.releaseGrants();
        own.endExpired();
        if (PeerMessageDescriptor.argument(question) == own.serverId()) {
            own.requestSpace();
        } else {
            own.wakeUp();
        }
        // Asked again before it was answered: the answers are the same.
        if (asked.stream()
                .noneMatch(one -> one.from == from
                        && PeerMessageDescriptor.number(one.question) == PeerMessageDescriptor.number(question))) {
            asked.add(new Asked(from, question, own.quietCycles(), clock.nanoTime()));
        }
    }

    private void want() {
        if (!wanted) {
            wanted = true;
            awake.run();
        }
    }

    /** Whether nobody waits for anything. For the agent that turns it. */
    boolean isIdle() {
        return !wanted && asked.isEmpty() && underWay.isEmpty();
    }

    @Override
    public int doWork() {
        return answerAsked() + turnRound();
    }

    private int answerAsked() {
        int count = 0;
        for (final Iterator<Asked> each = asked.iterator(); each.hasNext(); ) {
            final Asked one = each.next();
            if (own.quietCycles() >= one.quietCycles + 2 && !own.isExpiring(one.sinceNs)) {
                each.remove();
                answers.answer(one.from, one.question, 0, NOTHING);
                count++;
            } else {
                own.wakeUp();
            }
        }
        return count;
    }

    private int turnRound() {
        final long nowNs = clock.nanoTime();
        if (underWay.isEmpty()) {
            if (!wanted || others.isEmpty()) {
                return 0;
            }
            wanted = false;
            beganNs = nowNs;
            sentNs = nowNs;
            for (int server : others) {
                final long lacks = lacking.getAndSet(server, 0) == 1 ? server : -1;
                underWay.add(calls.begin(server, PeerRequestType.MAKE_ROOM, 0, lacks, NOTHING));
            }
            return 1;
        }
        if (underWay.stream().allMatch(PeerCalls.Call::isAnswered)) {
            underWay.forEach(PeerCalls.Call::giveUp);
            underWay.clear();
            lastBeganNs = beganNs;
            anyEnded = true;
            rounds.add(1);
            return 1;
        }
        if (nowNs - sentNs >= AGAIN_NS) {
            sentNs = nowNs;
            underWay.stream().filter(call -> !call.isAnswered()).forEach(PeerCalls.Call::send);
        }
        return 0;
    }
}
