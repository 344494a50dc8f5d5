package org.rowankv.sim.device;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/**
 * The device behind one area, at the level {@code power}: it has what was forced. Unless it is told otherwise it is honest and does not
 * fail.
 *
 * <p>Owned by its simulation. While a store opens or closes, a thread of the store may force, and the simulation waits for it.
 */
public final class Device {
    private final ByteBuffer durable;
    /** Of a device that lies; null of an honest one. */
    private @Nullable LostForces lies;

    /** Forces until one fails; −1: none does. */
    private int failsIn = -1;

    /** Whether every write counts as one, and not only those of a store in use. */
    private boolean failsAnywhere;

    private @Nullable RandomSource coins;
    private boolean failed;
    /** Writes until the power ends in the middle of one; −1: it does not. */
    private int powerEndsIn = -1;
    /** Whether a whole area was written since. */
    private boolean isClosing;

    public Device(ByteBuffer durable) {
        this.durable = durable;
    }

    /** As it came from the shop, but for the bytes. */
    public void reset() {
        lies = null;
        replaced();
    }

    /** Another process uses it from now on; a device that failed works again. */
    public void replaced() {
        failed = false;
        failsIn = -1;
        powerEndsIn = -1;
        isClosing = false;
    }

    /** From now on a power cut takes back the newest forces. */
    public void lie() {
        if (lies == null) {
            lies = new LostForces();
        }
    }

    public boolean isLying() {
        return lies != null;
    }

    /**
     * A force fails after so many: of its words the device has some.
     *
     * @param anywhere whether writes of superblocks and whole areas count too: else only the forces of a store in use
     */
    public void failIn(int forces, boolean anywhere, RandomSource random) {
        failsIn = forces;
        failsAnywhere = anywhere;
        coins = random;
    }

    /** The force that was to fail has not come yet, and does not fail. */
    public void spare() {
        failsIn = -1;
    }

    /** Whether a force of the present process has failed. */
    public boolean hasFailed() {
        return failed;
    }

    /**
     * The power ends when the area is closed: in the middle of the next write of the whole area, or after so many of
     * superblocks behind it.
     */
    public void endPowerAtClose(int writes) {
        powerEndsIn = writes;
        isClosing = false;
    }

    public boolean hasForced(ByteBuffer stored, int start, int length) {
        return stored.slice(start, length).equals(durable.slice(start, length));
    }

    /**
     * What follows, up to the next call, is one force.
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
     * Writes a range. Once a force has failed the device has said so, and takes whatever comes without keeping it: the
     * system has marked the pages as written.
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

    /** As {@link #write}, of a whole area or a superblock: the power may end in the middle. */
    public void writeOrEnd(ByteBuffer stored, int start, int end) {
        isClosing |= start == 0 && end == durable.capacity();
        if (powerEndsIn >= 0 && isClosing && powerEndsIn-- == 0) {
            final int middle = start + (end - start) / 2 & -Long.BYTES;
            write(stored, start, middle);
            throw new PowerFailure();
        }
        write(stored, start, end);
    }

    /** Something beside the area is forced, as a file: what takes it back, if the device lies. */
    public void noteForce(Runnable undo) {
        final LostForces noted = lies;
        if (noted != null) {
            noted.begin();
            noted.noteUndo(undo);
        }
    }

    /** A bit that the device keeps is another one from now on. */
    public void flip(int at, int mask) {
        durable.put(at, (byte) (durable.get(at) ^ mask));
    }

    /** The bytes are those of some other moment from now on. */
    public void overwrite(ByteBuffer bytes) {
        durable.put(0, bytes, 0, bytes.capacity());
    }

    /**
     * The power ends: afterwards both have the same bytes.
     *
     * @param stored what the process has
     * @param happened hears of sectors and forces that are lost
     * @return how many words were dropped
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
