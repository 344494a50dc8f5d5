package org.rowankv.server.session;

import java.util.List;

/**
 * An open session, as a checkpoint stores it.
 *
 * @param openAddress of the entry that opened it, or 0 if the scan must find it
 * @param firstUnanswered the watermark: smallest sequence that may still be requested
 */
public record SessionImage(long sessionId, long openAddress, long firstUnanswered, List<Answer> answers) {
    public SessionImage {
        answers = List.copyOf(answers);
    }

    /**
     * The response of a mutation.
     *
     * @param address of the entry that the response can be repeated from
     * @param keptLength length of that entry if it is kept for this response only, else 0
     */
    public record Answer(long sequence, long version, long previousVersion, int bits, long address, int keptLength) {}
}
