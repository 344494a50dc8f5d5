package org.rowankv.protocol.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import org.rowankv.protocol.frame.BufferAccounting;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireChecksum;

/**
 * Output of one connection: frames are appended, and written with as few calls as the socket permits. For one thread at
 * a time.
 */
public final class FrameEncoder {
    /** More than that is written in several calls: a channel keeps a buffer of the size of its largest call. */
    private static final int MAX_CALL = 256 << 10;

    private static final int KEPT_CAPACITY = 256 << 10;

    private final int firstCapacity;
    private final BufferAccounting memory;
    private final WireChecksum checksum = new WireChecksum();
    private ByteBuffer buffer;
    /** From {@code sent} to {@code end}: what is not written yet. */
    private int sent;

    private int end;

    public FrameEncoder(int firstCapacity) {
        this(firstCapacity, BufferAccounting.UNCOUNTED);
    }

    /**
     * An encoder with an accounted buffer.
     *
     * @param firstCapacity of the buffer while there is little to send; not counted
     * @param memory counts the buffer's memory beyond that
     */
    public FrameEncoder(int firstCapacity, BufferAccounting memory) {
        this.memory = memory;
        this.firstCapacity = firstCapacity;
        this.buffer = allocate(firstCapacity);
    }

    private static ByteBuffer allocate(int capacity) {
        return ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reserves space for a frame of that length; returns its index in {@link #buffer()}. It is appended once sealed.
     */
    int reserve(int length) {
        if (buffer.capacity() - end < length) {
            makeRoom(length);
        }
        return end;
    }

    private void replace(ByteBuffer next) {
        final int delta = next.capacity() - buffer.capacity();
        buffer = next;
        if (delta != 0) {
            memory.changed(delta);
        }
    }

    private void makeRoom(int length) {
        final int pending = end - sent;
        buffer.limit(end).position(sent);
        if (buffer.capacity() - pending >= length && sent >= pending) {
            buffer.compact();
            buffer.clear();
        } else {
            final ByteBuffer larger = allocate(Math.max(pending + length, 2 * buffer.capacity()));
            larger.put(buffer);
            larger.clear();
            replace(larger);
        }
        sent = 0;
        end = pending;
    }

    /** Appends bytes that are no frame: of the handshake. */
    public void append(ByteBuffer bytes) {
        final int length = bytes.remaining();
        final int at = reserve(length);
        buffer.position(at);
        buffer.put(bytes);
        buffer.clear();
        end = at + length;
    }

    ByteBuffer buffer() {
        return buffer;
    }

    /** Seals the frame at that index, complete except for its crc. */
    void seal(int at) {
        final int length = FrameHeadDescriptor.length(buffer, at);
        FrameHeadDescriptor.seal(buffer, at, length, checksum);
        end = at + length;
    }

    /** Bytes that are not written yet. */
    public int pending() {
        return end - sent;
    }

    /** Writes the bytes that the channel accepts; true when nothing is left. */
    public boolean writeTo(WritableByteChannel channel) throws IOException {
        while (sent < end) {
            final int size = Math.min(MAX_CALL, end - sent);
            buffer.limit(sent + size).position(sent);
            final int written;
            try {
                written = channel.write(buffer);
            } finally {
                buffer.clear();
            }
            sent += written;
            if (written < size) {
                return sent == end;
            }
        }
        sent = 0;
        end = 0;
        if (buffer.capacity() > KEPT_CAPACITY) {
            replace(allocate(firstCapacity));
        }
        return true;
    }

    /** Shrinks the buffer to its first capacity, if there is nothing to send. */
    public void trim() {
        if (sent == end && buffer.capacity() > firstCapacity) {
            sent = 0;
            end = 0;
            replace(allocate(firstCapacity));
        }
    }

    /** The connection has ended: drops unsent bytes. */
    public void release() {
        sent = 0;
        end = 0;
        trim();
    }
}
