package org.rowankv.server.opening;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.server.shard.ShardChanges;

/**
 * The change stream of a shard on its way to the next primary.
 *
 * <p>Layout, little endian: the number of caches, and of each its id, whether old values are requested (1 or 0) and its
 * floor (4, 4 and 8 bytes); then changes to the end, each as
 *
 * <pre>
 *   0  cache id        4
 *   4  version         8
 *  12  type            4
 *  16  in parts        4
 *  20  key length      4
 *  24  value length    4, −1: none
 *  28  old length      4, −1: none
 *  32  key, value, old value
 * </pre>
 */
final class HandedChanges {
    /** Limit of the changes, in bytes; a reader that has not received earlier ones gets EVENTS_LOST. */
    static final int MOST_BYTES = 1 << 20;

    private static final int CACHE_LENGTH = 16;
    private static final int CHANGE_LENGTH = 32;
    private static final int NONE = -1;

    private HandedChanges() {}

    static ByteBuffer encode(ShardChanges.Handed handed) {
        int length = Integer.BYTES + CACHE_LENGTH * handed.caches().size();
        for (ShardChanges.Kept each : handed.changes()) {
            length += CHANGE_LENGTH + (int) each.change().length();
        }
        final ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(handed.caches().size());
        for (ShardChanges.OfCache each : handed.caches()) {
            bytes.putInt(each.cacheId()).putInt(each.oldValues() ? 1 : 0).putLong(each.floor());
        }
        for (ShardChanges.Kept each : handed.changes()) {
            final Change change = each.change();
            bytes.putInt(each.cacheId())
                    .putLong(change.version())
                    .putInt(change.type().ordinal())
                    .putInt(change.inParts() ? 1 : 0)
                    .putInt(change.key().length)
                    .putInt(lengthOf(change.value()))
                    .putInt(lengthOf(change.oldValue()))
                    .put(change.key());
            put(bytes, change.value());
            put(bytes, change.oldValue());
        }
        return bytes.flip();
    }

    private static int lengthOf(byte @Nullable [] value) {
        return value == null ? NONE : value.length;
    }

    private static void put(ByteBuffer bytes, byte @Nullable [] value) {
        if (value != null) {
            bytes.put(value);
        }
    }

    /** @throws IllegalArgumentException if the bytes are no stream */
    static ShardChanges.Handed decode(ByteBuffer from) {
        final ByteBuffer bytes = from.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(0);
        try {
            final int caches = bytes.getInt();
            if (caches < 0 || caches > bytes.remaining() / CACHE_LENGTH) {
                throw new IllegalArgumentException(caches + " caches in " + bytes.limit() + " bytes");
            }
            final List<ShardChanges.OfCache> ofCaches = new ArrayList<>();
            for (int i = 0; i < caches; i++) {
                ofCaches.add(new ShardChanges.OfCache(bytes.getInt(), bytes.getInt() == 1, bytes.getLong()));
            }
            final List<ShardChanges.Kept> changes = new ArrayList<>();
            while (bytes.hasRemaining()) {
                changes.add(change(bytes));
            }
            return new ShardChanges.Handed(ofCaches, changes);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("it ends early, at " + bytes.limit(), e);
        }
    }

    private static ShardChanges.Kept change(ByteBuffer bytes) {
        final int cacheId = bytes.getInt();
        final long version = bytes.getLong();
        final ChangeType type = ChangeType.of(bytes.getInt());
        final boolean inParts = bytes.getInt() == 1;
        final int keyLength = bytes.getInt();
        final int valueLength = bytes.getInt();
        final int oldLength = bytes.getInt();
        final byte[] key = taken(bytes, keyLength);
        final byte[] value = taken(bytes, valueLength);
        final byte[] oldValue = taken(bytes, oldLength);
        if (key == null || version < 0 || type.hasValue() != (value != null)) {
            throw new IllegalArgumentException(
                    "a change without a key or value, or with one too many: version " + version + ", " + type);
        }
        return new ShardChanges.Kept(cacheId, new Change(version, type, key, value, oldValue, inParts));
    }

    private static byte @Nullable [] taken(ByteBuffer bytes, int length) {
        if (length == NONE) {
            return null;
        }
        if (length < 0 || length > bytes.remaining()) {
            throw new IllegalArgumentException("a length of " + length + ", where " + bytes.remaining() + " are left");
        }
        final byte[] value = new byte[length];
        bytes.get(value);
        return value;
    }
}
