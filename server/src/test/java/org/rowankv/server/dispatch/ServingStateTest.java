package org.rowankv.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Status;

/** How a failed server refuses pending and new requests. */
final class ServingStateTest {
    private final ServingState serving = new ServingState();
    private final IllegalStateException why = new IllegalStateException("planted");

    private void requireStatus(Status status, org.assertj.core.api.ThrowableAssert.ThrowingCallable asks) {
        final NotServedException refusal = catchThrowableOfType(NotServedException.class, asks);
        assertThat(refusal.status()).isEqualTo(status);
        assertThat(refusal).hasCause(why).hasMessage("planted");
    }

    /** Its entry may be in the logs, and a restart recovers it. */
    @Test
    void shouldCallTheOutcomeUnknownOfWhatHadBegunWhenItFailed() {
        serving.open();
        serving.fail(why);
        requireStatus(Status.OUTCOME_UNKNOWN, () -> serving.requireNotFailed(true));
        requireStatus(Status.CLOSED, () -> serving.requireNotFailed(false));
        requireStatus(Status.CLOSED, serving::requireNotRefused);
    }

    @Test
    void shouldLetRequestsThatWaitGoOnWhenItOnlyRefusesOthers() {
        serving.open();
        serving.refuse(why);
        assertThat(serving.isOpen()).isFalse();
        serving.requireNotFailed(true);
        serving.requireNotFailed(false);
        requireStatus(Status.CLOSED, serving::requireNotRefused);
    }
}
