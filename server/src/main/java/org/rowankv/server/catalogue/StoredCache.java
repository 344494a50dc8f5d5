package org.rowankv.server.catalogue;

/**
 * A cache that exists.
 *
 * @param id ≥ 1, never given to another cache
 * @param descriptor opaque here: what the client wants to find again
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record StoredCache(int id, String name, byte[] descriptor) {}
