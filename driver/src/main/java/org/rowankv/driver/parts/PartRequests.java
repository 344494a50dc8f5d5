package org.rowankv.driver.parts;

import java.util.List;
import org.rowankv.protocol.Request;

/** How the requests for a value's parts are sent: each an operation of its own, with retries. Thread-safe. */
public interface PartRequests {
    /** Executes a request; the response is in it. */
    void execute(Request request);

    /** Executes distinct requests, in any order. */
    void executeAll(List<Request> requests);

    /** How many requests of one value are worth sending at once. */
    int window();
}
