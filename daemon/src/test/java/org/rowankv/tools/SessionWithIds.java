package org.rowankv.tools;

import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;

/** Promises nothing about replies, as one over a network: so its clients' mutations have request ids. */
record SessionWithIds(Session below) implements ForwardingSession {
    @Override
    public boolean needsRequestIds() {
        return true;
    }
}
