package org.rowankv.sim.device;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/**
 * The simulated device of one area, at the durability level {@code power}: it holds the forced bytes. By default it is
 * honest and does not fail.
 *
 * <p>Owned by its simulation. While a store opens or closes, a thread of the store may force, and the simulation waits
 * for it.
 */
public final class Device {
    private final ByteBuffer durable;
    /** State of a lying device; null of an honest one. */
    private @Nullable LostForces lies;

    /** Forces until one fails; −1: none does. */
    private int failsIn = -1;

    /** Whether every write counts as one, and not only those of a store in use. */
    private boolean failsAnywhere;

    private @Nullable RandomSource coins;
    private boolean failed;
    /** Writes until the power fails in the middle of one; −1: it does not. */
    private int powerEndsIn = -1;
    /** Whether a whole area was written since. */
    private boolean isClosing;

    public Device(ByteBuffer durable) {
        this.durable = durable;
    }

    /** Restores the initial state, except for the bytes. */
    public void reset() {
        lies = null;
        replaced();
    }

    /** Another process uses it from now on; a failed device works again. */
    public void replaced() {
        failed = false;
        failsIn = -1;
        powerEndsIn = -1;
        isClosing = false;
    }

    /** From now on a power cut reverts the newest forces. */
    public void lie() {
        if (lies == null) {
            lies = new LostForces();
        }
    }

    public boolean isLying() {
        return lies != null;
    }

    /**
     * Makes a force fail after this many: the device holds some of its words.
     *
     * @param anywhere whether writes of superblocks and whole areas count too: else only the forces of a store in use
     */
    public void failIn(int forces, boolean anywhere, RandomSource random) {
        failsIn = forces;
        failsAnywhere = anywhere;
        coins = random;
    }

    /** Cancels a scheduled failure that has not happened yet. */
    public void spare() {
        failsIn = -1;
    }

    /** Whether a force of the present process has failed. */
    public boolean hasFailed() {
        return failed;
    }

    /**
     * The power fails when the area is closed: in the middle of the next write of the whole area, or after this many
     * writes of superblocks following it.
     */
    public void endPowerAtClose(int writes) {
        powerEndsIn = writes;
        isClosing = false;
    }

    public boolean hasForced(ByteBuffer stored, int start, int length) {
        return stored.slice(start, length).equals(durable.slice(start, length));
    }

    /**
     * The following writes, up to the next call, are one force.
     *
     * @param ofUse whether it is one of a store in use
     */
    public void begin(boolean ofUse) {
        final LostForces noted = lies;
        if (noted != null) {
            noted.begin();
        }
        if (failed) {
            return;
        }
        if (failsIn >= 0 && (ofUse || failsAnywhere) && failsIn-- == 0) {
            failed = true;
        }
    }

    /**
     * Writes a range. After a failed force, which the device has reported, it accepts further writes without keeping
     * them: the system has marked the pages as clean.
     *
     * @throws UncheckedIOException if this is the force that fails
     */
    public void write(ByteBuffer stored, int start, int end) {
        if (failed) {
            failOnce(stored, start, end);
            return;
        }
        final LostForces noted = lies;
        if (noted != null) {
            noted.note(stored, durable, start, end);
        }
        durable.put(start, stored, start, end - start);
    }

    private void failOnce(ByteBuffer stored, int start, int end) {
        final RandomSource random = coins;
        if (random == null) {
            return;
        }
        coins = null;
        for (int at = start & -Long.BYTES; at < end; at += Long.BYTES) {
            if (random.nextInt(2) == 0) {
                durable.putLong(at, stored.getLong(at));
            }
        }
        throw new UncheckedIOException(new DeviceFailedException());
    }

    /** As {@link #write}, for a whole area or a superblock: the power may fail in the middle. */
    public void writeOrEnd(ByteBuffer stored, int start, int end) {
        isClosing |= start == 0 && end == durable.capacity();
        if (powerEndsIn >= 0 && isClosing && powerEndsIn-- == 0) {
            final int middle = start + (end - start) / 2 & -Long.BYTES;
            write(stored, start, middle);
            throw new PowerFailure();
        }
        write(stored, start, end);
    }

    /** A force outside the area, such as that of a file; with its undo action, if the device lies. */
    public void noteForce(Runnable undo) {
        final LostForces noted = lies;
        if (noted != null) {
            noted.begin();
            noted.noteUndo(undo);
        }
    }

    /** Flips a bit on the device. */
    public void flip(int at, int mask) {
        durable.put(at, (byte) (durable.get(at) ^ mask));
    }

    /** Replaces the bytes by those of another moment. */
    public void overwrite(ByteBuffer bytes) {
        durable.put(0, bytes, 0, bytes.capacity());
    }

    /**
     * Cuts the power: afterwards both have the same bytes.
     *
     * @param stored bytes in the process
     * @param happened receives lost sectors and forces
     * @return number of dropped words
     */
    public int cutPower(ByteBuffer stored, RandomSource random, Consumer<String> happened) {
        final int dropped = new PowerCut(random, happened).apply(stored, durable);
        final LostForces noted = lies;
        if (noted != null) {
            final int lost = noted.lose(random);
            stored.put(0, durable, 0, durable.capacity());
            for (int i = 0; i < lost; i++) {
                happened.accept("forces that a device had reported and lost");
            }
        }
        return dropped;
    }
}
