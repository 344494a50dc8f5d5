package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.server.area.LostAreaException;
import org.rowankv.server.embedded.ServiceEnd.Closing;

/** How a store is closed after failures of several kinds, in whatever order they were met. */
final class ServiceEndTest {
    private final IllegalStateException deviceFailed = new IllegalStateException("a device");
    private final AgentStoppedException agentStopped =
            new AgentStoppedException("digest", new AssertionError("planted"));
    private final LostAreaException areaLost = new LostAreaException("dir", new InternalError("a fault"));

    private static ServiceEnd of(IllegalStateException... failures) {
        final ServiceEnd end = new ServiceEnd();
        for (IllegalStateException failure : failures) {
            end.add(failure);
        }
        return end;
    }

    @Test
    void shouldCloseCleanlyWhileNoAgentWasStopped() {
        assertThat(of().closing()).isEqualTo(Closing.CLEAN);
        assertThat(of().reason()).isNull();
        assertThat(of(deviceFailed).closing()).isEqualTo(Closing.CLEAN);
    }

    @Test
    void shouldNotForgetThatAnAgentWasStopped() {
        for (ServiceEnd end : List.of(of(agentStopped, deviceFailed), of(deviceFailed, agentStopped))) {
            assertThat(end.closing()).isEqualTo(Closing.AS_AFTER_A_CRASH);
        }
    }

    @Test
    void shouldTouchNothingOnceAnAreaIsLost() {
        assertThat(of(areaLost).closing()).isEqualTo(Closing.UNTOUCHED);
        assertThat(of(areaLost, agentStopped).closing()).isEqualTo(Closing.UNTOUCHED);
        assertThat(of(deviceFailed, agentStopped, areaLost).closing()).isEqualTo(Closing.UNTOUCHED);
    }

    @Test
    void shouldTellCallersOfTheFirstFailureOrOfALostArea() {
        assertThat(of(deviceFailed, agentStopped).reason()).isSameAs(deviceFailed);
        assertThat(of(agentStopped, deviceFailed).add(deviceFailed)).isSameAs(agentStopped);
        final ServiceEnd end = of(agentStopped, areaLost);
        assertThat(end.reason()).isSameAs(areaLost);
        assertThat(end.add(new LostAreaException("dir", new InternalError("another"))))
                .isSameAs(areaLost);
    }
}
