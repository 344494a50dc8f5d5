package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.embedded.StoreShutdown.CloseMode;

/** How a store is closed after failures of several kinds, in any order. */
final class StoreShutdownTest {
    private final IllegalStateException deviceFailed = new IllegalStateException("a device");
    private final AgentStoppedException agentStopped =
            new AgentStoppedException("digest", new AssertionError("planted"));
    private final LostAreaException areaLost = new LostAreaException("dir", new InternalError("a fault"));

    private static StoreShutdown of(IllegalStateException... failures) {
        final StoreShutdown end = new StoreShutdown();
        for (IllegalStateException failure : failures) {
            end.add(failure);
        }
        return end;
    }

    @Test
    void shouldCloseCleanlyWhileNoAgentWasStopped() {
        assertThat(of().closing()).isEqualTo(CloseMode.CLEAN);
        assertThat(of().reason()).isNull();
        assertThat(of(deviceFailed).closing()).isEqualTo(CloseMode.CLEAN);
    }

    @Test
    void shouldNotForgetThatAnAgentWasStopped() {
        for (StoreShutdown end : List.of(of(agentStopped, deviceFailed), of(deviceFailed, agentStopped))) {
            assertThat(end.closing()).isEqualTo(CloseMode.AS_AFTER_A_CRASH);
        }
    }

    @Test
    void shouldTouchNothingOnceAnAreaIsLost() {
        assertThat(of(areaLost).closing()).isEqualTo(CloseMode.UNTOUCHED);
        assertThat(of(areaLost, agentStopped).closing()).isEqualTo(CloseMode.UNTOUCHED);
        assertThat(of(deviceFailed, agentStopped, areaLost).closing()).isEqualTo(CloseMode.UNTOUCHED);
    }

    @Test
    void shouldTellCallersOfTheFirstFailureOrOfALostArea() {
        assertThat(of(deviceFailed, agentStopped).reason()).isSameAs(deviceFailed);
        assertThat(of(agentStopped, deviceFailed).add(deviceFailed)).isSameAs(agentStopped);
        final StoreShutdown end = of(agentStopped, areaLost);
        assertThat(end.reason()).isSameAs(areaLost);
        assertThat(end.add(new LostAreaException("dir", new InternalError("another"))))
                .isSameAs(areaLost);
    }
}
