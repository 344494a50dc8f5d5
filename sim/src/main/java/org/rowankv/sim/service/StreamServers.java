package org.rowankv.sim.service;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.topology.Configuration;

/** The servers as seen by a subscriber of their changes. */
public interface StreamServers {
    int cacheId();

    /** The configuration that the subscriber uses. */
    Configuration configuration();

    /** It was refused, or got no reply: fetches a newer configuration. */
    void lookElsewhere();

    /** The source of a server's replies; null if it is unreachable. The same as long as a connection to it lasts. */
    PendingChangesRequest.@Nullable Source source(int server);

    /** The primary of a shard is closed: throws its refusal, if it has stopped itself for good. */
    void requireServing(int shard);

    /** The number of a key; −1 if no client uses it. */
    int keyOf(byte[] key);

    int shardOf(int key);

    /** The id of a value. */
    long valueOf(byte[] value);

    /** The version of the object that a server's index shows under a key; 0 if there is none. */
    long visibleVersion(int server, int shard, byte[] key);
}
