package org.rowankv.rdma.verbs;

/** Receives the events of connections, on the thread that polls. */
public interface ConnectionEventHandler {

    /** Another end wants to connect. {@link VerbsConnection#destroy} refuses it. */
    void onRequest(VerbsConnection connection);

    /** The way to the other end is known: create the queue pair, post receives, and open. */
    void onResolved(VerbsConnection connection);

    void onEstablished(VerbsConnection connection);

    /** It could not be established. */
    void onFailed(VerbsConnection connection, String why);

    /** The other end has disconnected. What it sent before has a completion, or is lost. */
    void onDisconnected(VerbsConnection connection);
}
