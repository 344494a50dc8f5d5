package org.rowankv.server.session;

import java.util.List;

/**
 * An open session, as a checkpoint keeps it.
 *
 * @param openAddress of the entry that opened it, or 0 if that is to be met in the log
 * @param firstUnanswered the smallest sequence that may still be asked for
 */
public record SessionImage(long sessionId, long openAddress, long firstUnanswered, List<Answer> answers) {
    public SessionImage {
        answers = List.copyOf(answers);
    }

    /**
     * What a mutation was answered.
     *
     * @param address of the entry from which the answer can be given again
     * @param keptLength length of that entry if it is there for this answer only, else 0
     */
    public record Answer(long sequence, long version, long previousVersion, int bits, long address, int keptLength) {}
}
