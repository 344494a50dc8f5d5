package org.rowankv.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Status;

final class CompletionTest {
    /** Except the table's own fields: the link to the next one, and the kept length. */
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
