package org.rowankv.sim.device;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.rowankv.runtime.RandomSource;

/**
 * The newest forces of a lying device: it has reported them as done, and a power cut reverts them. Each is kept with
 * its undo information.
 */
final class LostForces {
    private static final int MOST = 64;
    private static final int BLOCK = 512;

    private final Deque<List<Runnable>> forces = new ArrayDeque<>();

    /** Starts another force. */
    void begin() {
        forces.addLast(new ArrayList<>());
        if (forces.size() > MOST) {
            forces.removeFirst();
        }
    }

    /** The current force writes those bytes to the device. */
    void note(ByteBuffer stored, ByteBuffer durable, int start, int end) {
        for (int at = start; at < end; at += BLOCK) {
            final int from = at;
            final int length = Math.min(BLOCK, end - from);
            if (!stored.slice(from, length).equals(durable.slice(from, length))) {
                final byte[] before = new byte[length];
                durable.get(from, before);
                noteUndo(() -> durable.put(from, before));
            }
        }
    }

    /** The current force has another effect that can be lost. */
    void noteUndo(Runnable undo) {
        forces.getLast().add(undo);
    }

    /** Reverts a random number of the newest forces; returns the number. */
    int lose(RandomSource random) {
        final int lost = Math.min(forces.size(), 1 + random.nextInt(MOST / 2));
        for (int i = 0; i < lost; i++) {
            final List<Runnable> undos = forces.removeLast();
            for (int j = undos.size() - 1; j >= 0; j--) {
                undos.get(j).run();
            }
        }
        forces.clear();
        return lost;
    }
}
