package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.check.verify.RequestCopy;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;

/** The network from clients to servers: it loses, duplicates and delays some attempts. */
public abstract class ClientNetwork {
    /**
     * An attempt in flight: with its own request, because its sender may have given up long before.
     *
     * @param from null if no client has sent it
     * @param term in which its sender believes that server to be the primary
     * @param isCopy whether another one is the original
     * @param isReplyLost whether its reply does not reach its sender
     * @param isDoubled whether another copy of it is in flight, which a refusal does not cover
     */
    public record Message(
            @Nullable Exchange from,
            int attempt,
            Request request,
            int server,
            long term,
            boolean isCopy,
            boolean isReplyLost,
            boolean isDoubled) {
        /** The client that waits for its reply, or null. */
        public @Nullable Exchange awaiting() {
            return isCopy || isReplyLost ? null : from;
        }

        private Message with(boolean replyLost, boolean doubled) {
            return new Message(from, attempt, request, server, term, false, replyLost, doubled);
        }

        private Message copy() {
            return new Message(from, attempt, RequestCopy.of(request), server, term, true, false, true);
        }

        @Override
        public String toString() {
            return (isCopy ? "copy of " : from + "'s ") + request.operation() + " in shard " + request.shard()
                    + ", request " + Long.toHexString(request.sessionId()) + "/" + request.sequence();
        }
    }

    private final SeedRun run;
    private final RandomSource random;

    protected ClientNetwork(SeedRun run, RandomSource random) {
        this.run = run;
        this.random = random;
    }

    /** Random source of the times that messages take. */
    protected final RandomSource random() {
        return random;
    }

    /** Sends an attempt to a server, if it reaches that. */
    public final void send(Exchange from, int attempt, Request request, int server, long term) {
        if (!reaches(from, server)) {
            return;
        }
        final Message original = new Message(from, attempt, RequestCopy.of(request), server, term, false, false, false);
        if (random.nextInt(1000) >= run.plan().lossPerMille()) {
            deliver(original, isSlow(server));
            return;
        }
        switch (random.nextInt(6)) {
            case 0 -> run.eventCounters().count("requests lost");
            case 1 -> {
                run.eventCounters().count("replies lost");
                deliver(original.with(true, false), false);
            }
            case 2 -> {
                run.eventCounters().count("requests doubled");
                deliver(original.with(false, true), false);
                deliver(original.copy(), false);
            }
            case 3 -> {
                run.eventCounters().count("requests doubled late");
                deliver(original.with(false, true), false);
                deliver(original.copy(), true);
            }
            case 4 -> {
                // Its sender retries what was executed, and meets the copy.
                run.eventCounters().count("replies lost of requests doubled late");
                deliver(original.with(true, true), false);
                deliver(original.copy(), true);
            }
            default -> {
                // Its sender retries it meanwhile.
                run.eventCounters().count("requests late");
                deliver(original, true);
            }
        }
    }

    /** Whether what a client sends there arrives at all. */
    protected abstract boolean reaches(Exchange from, int server);

    /** Whether all that clients send there is late. */
    protected boolean isSlow(int server) {
        return false;
    }

    protected abstract void deliver(Message message, boolean isLate);
}
