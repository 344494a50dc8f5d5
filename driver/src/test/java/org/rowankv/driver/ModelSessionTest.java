package org.rowankv.driver;

import org.rowankv.driver.api.Session;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ManualClock;

class ModelSessionTest extends SessionContract {
    private final ManualClock clock = new ManualClock();

    @Override
    protected Session open(Clock storeClock) {
        return new ModelSession(storeClock);
    }

    @Override
    protected Clock clock() {
        return clock;
    }

    @Override
    protected void passMs(long ms) {
        clock.advanceMs(ms);
    }
}
