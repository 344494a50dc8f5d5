package org.rowankv.check.disturb;

/**
 * An end of a connection: a server by number, ZooKeeper, or a client.
 *
 * @param number of the server; negative for the others
 */
public record NetworkNode(int number) {
    public static final NetworkNode ZOOKEEPER = new NetworkNode(-1);
    public static final NetworkNode CLIENT = new NetworkNode(-2);
    /** A client that is known to the network, and can be cut off alone. */
    public static final NetworkNode READER = new NetworkNode(-3);

    public static NetworkNode server(int number) {
        return new NetworkNode(number);
    }
}
