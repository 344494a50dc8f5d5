package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.engine.Server;
import org.rowankv.server.request.SpacePressure;

/**
 * Requests for space to servers in other processes, on behalf of a worker that lacks it. All servers release unused
 * grants and end expired objects, and the one that lacks space frees some. Each answers when it can free nothing more;
 * a pass is complete when all have answered. Two completed passes guarantee one that began after the wait.
 *
 * <p>While a server is unreachable no pass completes, and FULL is never reported.
 *
 * <p>Called by any thread; one agent runs the passes.
 */
public final class SpaceReclaimer implements SpacePressure, Agent {
    private static final long RESEND_NS = 100_000_000;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Sends an answer. */
    public interface Answers {
        void answer(int to, ByteBuffer question, long argument, ByteBuffer payload);
    }

    /** A request of another server that waits for this server's agents. */
    private record Asked(int from, ByteBuffer question, long quietCycles, long sinceNs) {}

    /** Created with this, and used before any call. */
    private volatile @Nullable Server created;

    private final Supplier<List<Integer>> others;
    private final PeerCalls calls;
    private final Answers answers;
    private final Clock clock;
    private final Runnable awake;
    /** By server: 1 if it lacks space. */
    private final AtomicIntegerArray lacking;

    private final ConcurrentLinkedQueue<Asked> asked = new ConcurrentLinkedQueue<>();
    private volatile boolean requested;
    private final OwnedCounter passes = new OwnedCounter();
    private volatile long lastBeganNs;
    private volatile boolean anyEnded;

    /** Calls of the current pass. */
    private final List<PeerCalls.Call> calling = new ArrayList<>();

    private long beganNs;
    private long sentNs;

    /**
     * @param others supplies the other members
     * @param awake wakes the agent that runs this
     */
    public SpaceReclaimer(
            int serverCount,
            Supplier<List<Integer>> others,
            PeerCalls calls,
            Answers answers,
            Clock clock,
            Runnable awake) {
        this.others = others;
        this.calls = calls;
        this.answers = answers;
        this.clock = clock;
        this.awake = awake;
        this.lacking = new AtomicIntegerArray(serverCount);
    }

    /** Sets the server whose space it frees. Before any other call. */
    public void use(Server server) {
        created = server;
    }

    private Server own() {
        final Server server = created;
        if (server == null) {
            throw new AssertionError("called before the server was created");
        }
        return server;
    }

    @Override
    public String roleName() {
        return "pressure";
    }

    // --- calls of workers ---

    @Override
    public void wakeUp(int server) {
        own().wakeUp(); // the agents of others poll by themselves
    }

    @Override
    public void requestSpace(int server) {
        final boolean unused = own().spaceRequests().releaseGrants();
        own().spaceRequests().endExpired();
        if (server == own().serverId()) {
            own().spaceRequests().requestSpace();
        } else {
            lacking.set(server, 1);
        }
        request();
    }

    @Override
    public boolean isExpiring(long sinceNs) {
        if (own().spaceRequests().isExpiring(sinceNs)) {
            return true;
        }
        if (others.get().isEmpty() || anyEnded && lastBeganNs - sinceNs >= 0) {
            return false;
        }
        request();
        return true;
    }

    @Override
    public long quietCycles(int server) {
        if (server == own().serverId()) {
            return own().quietCycles();
        }
        request();
        return passes.get();
    }

    // --- requests of other servers ---

    /** A worker elsewhere lacks space, here or at another server. */
    void makeRoom(int from, ByteBuffer question) {
        final boolean unused = own().spaceRequests().releaseGrants();
        own().spaceRequests().endExpired();
        if (PeerMessageDescriptor.argument(question) == own().serverId()) {
            own().spaceRequests().requestSpace();
        } else {
            own().wakeUp();
        }
        // A resent request keeps the first one's start.
        if (asked.stream()
                .noneMatch(one -> one.from == from
                        && PeerMessageDescriptor.number(one.question) == PeerMessageDescriptor.number(question))) {
            asked.add(new Asked(from, question, own().quietCycles(), clock.nanoTime()));
        }
    }

    private void request() {
        if (!requested) {
            requested = true;
            awake.run();
        }
    }

    /** Whether no request is pending. For the agent that runs this. */
    boolean isIdle() {
        return !requested && asked.isEmpty() && calling.isEmpty();
    }

    @Override
    public int doWork() {
        return answerAsked() + runPass();
    }

    private int answerAsked() {
        int count = 0;
        for (final Iterator<Asked> each = asked.iterator(); each.hasNext(); ) {
            final Asked one = each.next();
            if (own().quietCycles() >= one.quietCycles + 2
                    && !own().spaceRequests().isExpiring(one.sinceNs)) {
                each.remove();
                answers.answer(one.from, one.question, 0, NOTHING);
                count++;
            } else {
                own().wakeUp();
            }
        }
        return count;
    }

    /** An excluded server frees nothing for others. */
    private boolean isOver(PeerCalls.Call call) {
        return call.isAnswered() || !others.get().contains(call.server());
    }

    private int runPass() {
        final long nowNs = clock.nanoTime();
        if (calling.isEmpty()) {
            if (!requested || others.get().isEmpty()) {
                return 0;
            }
            requested = false;
            beganNs = nowNs;
            sentNs = nowNs;
            for (int server : others.get()) {
                final long lacks = lacking.getAndSet(server, 0) == 1 ? server : -1;
                calling.add(calls.begin(server, PeerRequestType.MAKE_ROOM, 0, lacks, NOTHING));
            }
            return 1;
        }
        if (calling.stream().allMatch(this::isOver)) {
            calling.forEach(PeerCalls.Call::abandon);
            calling.clear();
            lastBeganNs = beganNs;
            anyEnded = true;
            passes.add(1);
            return 1;
        }
        if (nowNs - sentNs >= RESEND_NS) {
            sentNs = nowNs;
            calling.stream().filter(call -> !call.isAnswered()).forEach(PeerCalls.Call::send);
        }
        return 0;
    }
}
