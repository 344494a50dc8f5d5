package org.rowankv.driver.net;

/**
 * Settings of a client's connections.
 *
 * @param connectionsPerServer number of connections over which callers are distributed by thread
 * @param spinNs how long a platform thread polls for a reply, yielding in between, before it blocks; 0: it blocks at
 *     once. Virtual threads never spin
 * @param maxInFlight requests in flight per connection, 1 to 32,768; further callers wait
 * @param maxFrame the longest frame that is accepted; at least the servers'
 * @param connectNs timeout of establishing a connection
 * @param attemptNs how long an attempt waits for its reply
 * @param silenceNs how long an attempt waits for a connection and a slot, and a server may leave requests unanswered
 *     before the others are asked for a newer configuration
 */
public record NetSettings(
        int connectionsPerServer,
        long spinNs,
        int maxInFlight,
        int maxFrame,
        long connectNs,
        long attemptNs,
        long silenceNs) {
    public static final NetSettings DEFAULT =
            new NetSettings(2, 50_000, 256, 8 << 20, 3_000_000_000L, 5_000_000_000L, 200_000_000L);

    public NetSettings {
        if (connectionsPerServer < 1 || maxInFlight < 1 || maxInFlight > 1 << 15 || maxFrame < 1 << 16) {
            throw new IllegalArgumentException(connectionsPerServer + " connections per server, " + maxInFlight
                    + " requests in flight, frames of " + maxFrame + " bytes");
        }
    }

    public NetSettings withSpinNs(long newSpinNs) {
        return new NetSettings(connectionsPerServer, newSpinNs, maxInFlight, maxFrame, connectNs, attemptNs, silenceNs);
    }

    public NetSettings withConnections(int perServer, int newMaxInFlight) {
        return new NetSettings(perServer, spinNs, newMaxInFlight, maxFrame, connectNs, attemptNs, silenceNs);
    }

    /** A copy with other timeouts. */
    public NetSettings withTimes(long newConnectNs, long newAttemptNs) {
        return new NetSettings(
                connectionsPerServer, spinNs, maxInFlight, maxFrame, newConnectNs, newAttemptNs, silenceNs);
    }

    public NetSettings withSilenceNs(long newSilenceNs) {
        return new NetSettings(connectionsPerServer, spinNs, maxInFlight, maxFrame, connectNs, attemptNs, newSilenceNs);
    }
}
