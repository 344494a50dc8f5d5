package org.rowankv.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Status;

final class CompletionTest {
    /** But what is the table's own: where the next one is, and what it has kept. */
    @Test
    void shouldCopyAllThatAnAnswerIsMadeOf() {
        final Completion completion = new Completion();
        completion.sequence = 1;
        completion.version = 2;
        completion.previousVersion = 3;
        completion.bits = 4;
        completion.address = 5;
        completion.status = Status.CONDITION_FAILED;
        completion.keptLength = 6;
        completion.older = new Completion();
        assertThat(completion.copy())
                .usingRecursiveComparison()
                .ignoringFields("keptLength", "older")
                .isEqualTo(completion);
        assertThat(completion.copy().keptLength).isZero();
        assertThat(completion.copy().older).isNull();
    }
}
