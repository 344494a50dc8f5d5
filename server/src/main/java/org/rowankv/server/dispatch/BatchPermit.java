package org.rowankv.server.dispatch;

import org.rowankv.server.authority.AnswerPermit;

/**
 * A server's permit, asked at most once for the requests that arrived together: each asking reads clocks, and a batch
 * of reads would do nothing else for a part of its time. Owned by one event loop.
 */
final class BatchPermit implements AnswerPermit {
    private final AnswerPermit permit;
    private boolean isAsked;
    private boolean mayAnswer;

    BatchPermit(AnswerPermit permit) {
        this.permit = permit;
    }

    /** Forgets the result: requests have arrived that are younger. */
    void renew() {
        isAsked = false;
    }

    @Override
    public boolean mayAnswer() {
        if (!isAsked) {
            mayAnswer = permit.mayAnswer();
            isAsked = true; // last: an error may strike in between
        }
        return mayAnswer;
    }
}
