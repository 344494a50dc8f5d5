package org.rowankv.server.opening;

/**
 * Carries the messages of openings to other servers. May lose, repeat and delay them: questions are repeated until they
 * are answered. Delivered messages go to {@link OpeningAgent#received}.
 */
@FunctionalInterface
public interface OpeningTransport {
    /** Sends a message to a server; called by an agent, so it must not block. */
    void send(int server, OpeningMessage message);
}
