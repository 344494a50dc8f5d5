package org.rowankv.rdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsException;

/** Registered memory of one connection's slots: those to send from, then those to receive into. */
final class SlotMemory {
    private final int slots;
    private final int slotLength;
    private final ByteBuffer memory;
    private final RegisteredMemory registered;
    private final ByteBuf[] received;

    SlotMemory(Verbs verbs, VerbsSettings settings) throws VerbsException {
        this.slots = settings.slots();
        this.slotLength = settings.slotLength();
        this.memory = ByteBuffer.allocateDirect(2 * slots * slotLength).order(ByteOrder.LITTLE_ENDIAN);
        this.registered = verbs.register(memory);
        this.received = new ByteBuf[slots];
        for (int slot = 0; slot < slots; slot++) {
            received[slot] = Unpooled.wrappedBuffer(memory.slice(receiveOffset(slot), slotLength));
        }
    }

    /** Use absolute accessors only. */
    ByteBuffer memory() {
        return memory;
    }

    RegisteredMemory registered() {
        return registered;
    }

    int sendOffset(int slot) {
        return slot * slotLength;
    }

    int receiveOffset(int slot) {
        return (slots + slot) * slotLength;
    }

    /** A view of a receive's slot, with one reference: it is reused. */
    ByteBuf received(int slot) {
        return received[slot];
    }
}
