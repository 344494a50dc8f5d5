package org.rowankv.server.embedded;

import org.rowankv.server.dispatch.PollableCall;

/** A call of a stub: it holds no resources, and waits for no worker. */
abstract class StubCall implements PollableCall {
    @Override
    public void again() {
        // No resources to release.
    }

    @Override
    public boolean awaitsWorker() {
        return false;
    }
}
