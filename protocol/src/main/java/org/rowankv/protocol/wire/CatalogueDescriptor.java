package org.rowankv.protocol.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of requests to the catalogue of caches and of its responses: the frame's head, then
 *
 * <pre>
 *   asked:    max entries 8, max bytes 8, cache id 4, name length 4, descriptor length 4, name in UTF-8, descriptor
 *   answered: number 8, count 4, per cache: max entries 8, max bytes 8, id 4, name length 4, descriptor length 4,
 *             name in UTF-8, descriptor; then a text in UTF-8 that says why not, if the status is not OK
 * </pre>
 *
 * <p>In the head, code: of a question an {@link Asked}, of an answer a {@link Status}.
 */
public final class CatalogueDescriptor {
    static final int MAX_ENTRIES_OFFSET = 0;
    static final int MAX_BYTES_OFFSET = 8;
    static final int ID_OFFSET = 16;
    static final int NAME_LENGTH_OFFSET = 20;
    static final int DESCRIPTOR_LENGTH_OFFSET = 24;
    static final int CACHE_LENGTH = 28;
    static final int NUMBER_OFFSET = FrameHeadDescriptor.HEAD_LENGTH;
    static final int COUNT_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int CACHES_OFFSET = COUNT_OFFSET + Integer.BYTES;

    /** Catalogue operations. */
    public enum Asked {
        /** The cache of that name: one, or none. */
        FIND,
        /** Create a cache of that name with that descriptor, or find it: one. */
        CREATE,
        /** Give the cache of that name another limit; number: 1 if there is one. */
        LIMIT,
        /** Evictions of the cache with that id on this server; number: how many. */
        EVICTIONS,
        /** Destroy the cache of that name; number: 1 if there was one. */
        DESTROY,
        /** All caches. */
        LIST,
        /** Objects of the cache with that id in this server's primary shards; number: how many. */
        OBJECTS,
        /** The bytes that these occupy; number: how many. */
        BYTES
    }

    /** A cache, or the subject of a request. */
    @SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
    public record Cache(int id, String name, byte[] descriptor, CacheLimit limit) {}

    /** A response; the text is empty unless the status is not OK. */
    public record Answer(Status status, long number, List<Cache> caches, String text) {}

    private static final Asked[] ASKED = Asked.values();

    private CatalogueDescriptor() {}

    private static int lengthOf(Cache cache, byte[] name) {
        return Math.addExact(CACHE_LENGTH + name.length, cache.descriptor().length);
    }

    private static int put(ByteBuffer buffer, int at, Cache cache, byte[] name) {
        buffer.putLong(at + MAX_ENTRIES_OFFSET, cache.limit().maxEntries())
                .putLong(at + MAX_BYTES_OFFSET, cache.limit().maxBytes())
                .putInt(at + ID_OFFSET, cache.id())
                .putInt(at + NAME_LENGTH_OFFSET, name.length)
                .putInt(at + DESCRIPTOR_LENGTH_OFFSET, cache.descriptor().length)
                .put(at + CACHE_LENGTH, name)
                .put(at + CACHE_LENGTH + name.length, cache.descriptor());
        return at + lengthOf(cache, name);
    }

    public static void writeAsked(FrameEncoder out, long number, Asked asked, Cache cache) {
        final byte[] name = cache.name().getBytes(UTF_8);
        final int length = FrameHeadDescriptor.HEAD_LENGTH + lengthOf(cache, name);
        final int at = out.reserve(length);
        FrameHeadDescriptor.write(
                out.buffer(), at, length, ClientFrameDescriptor.CATALOGUE, asked.ordinal(), 0, 0, 0, number);
        put(out.buffer(), at + FrameHeadDescriptor.HEAD_LENGTH, cache, name);
        out.seal(at);
    }

    public static Asked asked(ByteBuffer buffer, int at) throws WireException {
        if (FrameHeadDescriptor.code(buffer, at) >= ASKED.length) {
            throw new WireException(
                    WireFault.BAD_FRAME, "question " + FrameHeadDescriptor.code(buffer, at) + " of the catalogue");
        }
        return ASKED[FrameHeadDescriptor.code(buffer, at)];
    }

    public static Cache readAsked(ByteBuffer buffer, int at, int length) throws WireException {
        final int from = at + FrameHeadDescriptor.HEAD_LENGTH;
        final int end = requireCache(buffer, from, at + length);
        ClientFrameDescriptor.requireLength(length, end - at);
        return cache(buffer, from);
    }

    /** Where the cache that begins there ends; fails if that is behind the end. */
    private static int requireCache(ByteBuffer buffer, int from, int end) throws WireException {
        if (end - from >= CACHE_LENGTH) {
            final int name = buffer.getInt(from + NAME_LENGTH_OFFSET);
            final int descriptor = buffer.getInt(from + DESCRIPTOR_LENGTH_OFFSET);
            if (name >= 0
                    && descriptor >= 0
                    && (long) name + descriptor <= end - from - CACHE_LENGTH
                    && buffer.getLong(from + MAX_ENTRIES_OFFSET) >= 0
                    && buffer.getLong(from + MAX_BYTES_OFFSET) >= 0) {
                return from + CACHE_LENGTH + name + descriptor;
            }
        }
        throw new WireException(WireFault.BAD_FRAME, "a cache that is none");
    }

    private static Cache cache(ByteBuffer buffer, int from) {
        final byte[] name = new byte[buffer.getInt(from + NAME_LENGTH_OFFSET)];
        final byte[] descriptor = new byte[buffer.getInt(from + DESCRIPTOR_LENGTH_OFFSET)];
        buffer.get(from + CACHE_LENGTH, name);
        buffer.get(from + CACHE_LENGTH + name.length, descriptor);
        return new Cache(
                buffer.getInt(from + ID_OFFSET),
                new String(name, UTF_8),
                descriptor,
                new CacheLimit(buffer.getLong(from + MAX_ENTRIES_OFFSET), buffer.getLong(from + MAX_BYTES_OFFSET)));
    }

    public static void writeAnswer(FrameEncoder out, long number, Answer answer) {
        final byte[] text = answer.text().getBytes(UTF_8);
        final List<byte[]> names = new ArrayList<>();
        int length = Math.addExact(CACHES_OFFSET, text.length);
        for (Cache cache : answer.caches()) {
            final byte[] name = cache.name().getBytes(UTF_8);
            names.add(name);
            length = Math.addExact(length, lengthOf(cache, name));
        }
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(
                buffer,
                at,
                length,
                ClientFrameDescriptor.CATALOGUE_ANSWER,
                answer.status().ordinal(),
                0,
                0,
                0,
                number);
        buffer.putLong(at + NUMBER_OFFSET, answer.number()).putInt(at + COUNT_OFFSET, names.size());
        int to = at + CACHES_OFFSET;
        for (int i = 0; i < names.size(); i++) {
            to = put(buffer, to, answer.caches().get(i), names.get(i));
        }
        buffer.put(to, text);
        out.seal(at);
    }

    public static Answer readAnswer(ByteBuffer buffer, int at, int length) throws WireException {
        if (length < CACHES_OFFSET
                || FrameHeadDescriptor.code(buffer, at) >= Status.values().length
                || buffer.getInt(at + COUNT_OFFSET) < 0) {
            throw new WireException(WireFault.BAD_FRAME, "an answer of the catalogue that is none");
        }
        final List<Cache> caches = new ArrayList<>();
        int from = at + CACHES_OFFSET;
        for (int i = buffer.getInt(at + COUNT_OFFSET); i > 0; i--) {
            final int end = requireCache(buffer, from, at + length);
            caches.add(cache(buffer, from));
            from = end;
        }
        final byte[] text = new byte[at + length - from];
        buffer.get(from, text);
        return new Answer(
                Status.of(FrameHeadDescriptor.code(buffer, at)),
                buffer.getLong(at + NUMBER_OFFSET),
                caches,
                new String(text, UTF_8));
    }
}
