package org.rowankv.server.catalogue;

import org.rowankv.protocol.CacheLimit;

/**
 * An existing cache.
 *
 * @param id ≥ 1, never assigned to another cache
 * @param descriptor opaque data of the client
 * @param limit of its size
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record StoredCache(int id, String name, byte[] descriptor, CacheLimit limit) {}
