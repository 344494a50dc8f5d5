package org.rowankv.tools;

import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;

/** Guarantees no replies, like a network session: so its clients' mutations have request ids. */
record SessionWithIds(Session below) implements ForwardingSession {
    @Override
    public boolean needsRequestIds() {
        return true;
    }
}
