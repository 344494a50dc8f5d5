package org.rowankv.server.catalogue;

import org.rowankv.protocol.CacheLimit;

/**
 * A cache that exists.
 *
 * @param id ≥ 1, never given to another cache
 * @param descriptor opaque here: what the client wants to find again
 * @param limit what it is kept below
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record StoredCache(int id, String name, byte[] descriptor, CacheLimit limit) {}
