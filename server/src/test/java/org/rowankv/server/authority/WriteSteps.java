package org.rowankv.server.authority;

import org.rowankv.topology.ShardAssignment;

/** The one write, and reads that stand still between lease check and end. */
final class WriteSteps {
    private final Scope scope;
    private final Mistake mistake;
    private final Steps.Sink sink;

    WriteSteps(Scope scope, Mistake mistake, Steps.Sink sink) {
        this.scope = scope;
        this.mistake = mistake;
        this.sink = sink;
    }

    void from(World world) {
        for (int slot = 0; slot < scope.servers(); slot++) {
            final ModelServer server = world.servers[slot];
            if (server.up && server.role.isOpen() && world.writer == World.NO_WRITER) {
                begin(world, slot);
            }
            if (server.up
                    && (server.role.isOpen() || mistake == Mistake.LEAVES_WITH_A_WRITE_BEGUN)
                    && world.writer == slot
                    && !world.known) {
                acknowledge(world, slot);
            }
            if (world.writer >= 0 && slot != world.writer && (world.landed >> slot & 1) == 0) {
                land(world, slot);
            }
            if (scope.reads()) {
                read(world, slot);
            }
        }
    }

    private void begin(World world, int slot) {
        final World next = world.copy();
        final ModelServer server = next.change(slot);
        server.value = 1;
        next.writer = slot;
        next.writerIncarnation = (int) server.voter().incarnation();
        next.writerEpoch = server.epoch;
        next.landed = 1 << slot;
        sink.step(next, () -> "server " + slot + " writes value 1", null);
    }

    private void land(World world, int slot) {
        final ModelServer writer = world.servers[world.writer];
        final ModelServer server = world.servers[slot];
        if (!server.up
                || writer.authority.committed() == 0
                || !world.stored(writer.authority.committed()).shard().isReplica(slot)
                || !server.voter().admits(world.writer, world.writerIncarnation)) {
            return;
        }
        final World next = world.copy();
        next.landed |= 1 << slot;
        // What lands behind a later collect is of a former epoch: it is acknowledged, and has no effect.
        if (server.epoch <= world.writerEpoch) {
            next.change(slot).value = 1;
        }
        sink.step(next, () -> "the write lands at server " + slot, null);
    }

    private void acknowledge(World world, int slot) {
        final ModelServer server = world.servers[slot];
        if (server.voter().incarnation() != world.writerIncarnation) {
            return;
        }
        final ShardAssignment shard = world.stored(server.authority.committed()).shard();
        int missing = 0;
        for (int other = 0; other < scope.servers(); other++) {
            missing += shard.isReplica(other) && (world.landed >> other & 1) == 0 ? 1 : 0;
        }
        if (missing <= (mistake == Mistake.ACKNOWLEDGES_ONE_SHORT ? 1 : 0)) {
            final World next = world.copy();
            next.known = true;
            sink.step(next, () -> "server " + slot + " acknowledges the write", null);
        }
    }

    private void read(World world, int slot) {
        final ModelServer server = world.servers[slot];
        if (server.taken == ModelServer.NO_READ) {
            if (world.mayAnswer(slot)) {
                final World next = world.copy();
                final ModelServer reader = next.change(slot);
                reader.taken = reader.role.take();
                reader.mustSee = world.known && mistake != Mistake.CHECKS_BEFORE_ARRIVAL;
                sink.step(next, () -> "server " + slot + " checks its lease for a read", null);
            }
            return;
        }
        if (mistake == Mistake.CHECKS_BEFORE_ARRIVAL && world.known && !server.mustSee) {
            final World next = world.copy();
            next.change(slot).mustSee = true;
            sink.step(next, () -> "only now the read arrives at server " + slot, null);
        }
        final World next = world.copy();
        final ModelServer reader = next.change(slot);
        final boolean answered = reader.role.isUnchanged(reader.taken);
        final int value = world.answer(slot);
        final boolean wrong = answered && reader.mustSee && value == 0;
        reader.setRole(reader.role.isOpen(), false, false);
        reader.mustSee = false;
        sink.step(
                next,
                () -> "server " + slot + (answered ? " answers value " + value : " drops what it read"),
                wrong ? "server " + slot + " answers the value before, which was known to be overwritten" : null);
    }
}
