package org.rowankv.server.resync;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** A question about {@link PresentEntries} that is under way to another server. */
public interface Inquiry {
    /** So long an answer is awaited. */
    long PATIENCE_NS = 5_000_000_000L;

    /** Whether the answer has come, or will not. */
    boolean isOver();

    /**
     * Once it is over: a bit for each entry that was present there, in the order of the question; null if the server did
     * not answer.
     */
    @Nullable
    BitSet answer();

    /** One that is over. */
    static Inquiry over(@Nullable BitSet answer) {
        return new Inquiry() {
            @Override
            public boolean isOver() {
                return true;
            }

            @Override
            public @Nullable BitSet answer() {
                return answer;
            }
        };
    }
}
