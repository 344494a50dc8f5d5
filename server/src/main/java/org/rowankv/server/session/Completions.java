package org.rowankv.server.session;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;

/** The completions of one session, newest first. Guarded by its {@link SessionTable}. */
final class Completions {
    private @Nullable Completion newest;
    /** The watermark: smallest sequence whose response may still be requested. */
    private long firstUnanswered;

    long firstUnanswered() {
        return firstUnanswered;
    }

    /** The completion of a sequence, or null. */
    @Nullable
    Completion of(long sequence) {
        for (Completion c = newest; c != null; c = c.older) {
            if (c.sequence == sequence) {
                return c;
            }
        }
        return null;
    }

    /** Whether the entry at that address is that of a completion. */
    boolean isAt(long address) {
        for (Completion c = newest; c != null; c = c.older) {
            if (c.isApplied() && c.address == address) {
                return true;
            }
        }
        return false;
    }

    /** The completion with the smallest sequence greater than {@code after} whose entry is in the log, or null. */
    @Nullable
    Completion nextApplied(long after) {
        Completion next = null;
        for (Completion c = newest; c != null; c = c.older) {
            if (c.isApplied() && c.sequence > after && (next == null || c.sequence < next.sequence)) {
                next = c;
            }
        }
        return next;
    }

    /** Forgets all; returns the space freed by entries that only they had kept. */
    int releaseAll(SessionTable.Release release) {
        int freed = 0;
        for (Completion c = newest; c != null; c = c.older) {
            freed += release(release, c);
        }
        newest = null;
        return freed;
    }

    private static int release(SessionTable.Release release, Completion completion) {
        final int length = completion.keptLength;
        completion.keptLength = 0;
        return length == 0 ? 0 : release.release(completion.address, length);
    }

    /**
     * Records an outcome, and forgets those below the watermark.
     *
     * @param copies selects one of two copies of the entry, when both are found
     * @return the space freed by entries that only forgotten completions had kept
     */
    int remember(
            SessionTable.Release release,
            SessionTable.CopyOrder copies,
            long sequence,
            int unanswered,
            Status status,
            long version,
            long previousVersion,
            int bits,
            long address) {
        firstUnanswered = Math.max(firstUnanswered, sequence - unanswered);
        for (Completion c = newest; c != null; c = c.older) {
            if (c.sequence == sequence && c.isApplied() && c.version >= version) {
                return c.version == version ? foundAgain(release, copies, c, address) : 0;
            }
        }
        int freed = 0;
        Completion reused = null;
        Completion kept = null;
        for (Completion c = newest; c != null; ) {
            final Completion older = c.older;
            if (c.sequence == sequence || c.sequence < firstUnanswered) {
                freed += release(release, c);
                reused = c;
            } else {
                c.older = kept;
                kept = c;
            }
            c = older;
        }
        if (sequence < firstUnanswered) {
            newest = kept;
            return freed;
        }
        final Completion completion = reused == null ? new Completion() : reused;
        completion.sequence = sequence;
        completion.version = version;
        completion.previousVersion = previousVersion;
        completion.bits = bits;
        completion.address = address;
        completion.status = status;
        completion.older = kept;
        newest = completion;
        return freed;
    }

    /** The same entry again, from a copy. */
    private static int foundAgain(
            SessionTable.Release release, SessionTable.CopyOrder copies, Completion completion, long address) {
        if (completion.address == address || !copies.isPreferred(address, completion.address)) {
            return 0;
        }
        final int freed = release(release, completion);
        completion.address = address;
        return freed;
    }

    /** The session's state for a checkpoint. */
    SessionImage image(long sessionId, long openAddress) {
        final List<SessionImage.Answer> answers = new ArrayList<>();
        for (Completion c = newest; c != null; c = c.older) {
            if (c.isApplied()) {
                answers.add(new SessionImage.Answer(
                        c.sequence, c.version, c.previousVersion, c.bits, c.address, c.keptLength));
            }
        }
        return new SessionImage(sessionId, openAddress, firstUnanswered, answers);
    }

    /** Before any other entry of the session is read. */
    void restore(SessionImage image) {
        firstUnanswered = Math.max(firstUnanswered, image.firstUnanswered());
        for (SessionImage.Answer answer : image.answers()) {
            final Completion completion = new Completion();
            completion.sequence = answer.sequence();
            completion.version = answer.version();
            completion.previousVersion = answer.previousVersion();
            completion.bits = answer.bits();
            completion.address = answer.address();
            completion.keptLength = answer.keptLength();
            completion.older = newest;
            newest = completion;
        }
    }
}
