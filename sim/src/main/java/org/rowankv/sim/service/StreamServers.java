package org.rowankv.sim.service;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.frontend.AskedChanges;
import org.rowankv.topology.Configuration;

/** The servers, as a subscriber of their changes reaches them. */
public interface StreamServers {
    int cacheId();

    /** That the subscriber goes by. */
    Configuration configuration();

    /** It was sent away, or not answered: looks for a newer configuration. */
    void lookElsewhere();

    /** Where a server's answers come from; null if it cannot be reached. The same as long as a connection to it lasts. */
    AskedChanges.@Nullable Source source(int server);

    /** The primary of a shard is closed: throws what it refuses requests with, if it has stopped itself for good. */
    void requireServing(int shard);

    /** The number of a key; −1 if no client uses it. */
    int keyOf(byte[] key);

    int shardOf(int key);

    /** The id of a value. */
    long valueOf(byte[] value);

    /** The version of the object that a server's index shows under a key; 0 if there is none. */
    long visibleVersion(int server, int shard, byte[] key);
}
