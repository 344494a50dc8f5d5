package org.rowankv.server.durability;

/**
 * An area could not be forced to its device. The system may have dropped the pages it could not write, and a successful
 * second attempt proves nothing about them. So nothing is forced again, and nothing more is acknowledged at the level
 * {@link Durability#POWER}.
 */
public final class ForceFailedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    ForceFailedException(String area, Throwable cause) {
        super(
                area + " could not be forced to its device (" + cause + "): nothing more is acknowledged. What was"
                        + " acknowledged before is on the device. Close the store, look after the device and its free space,"
                        + " and open the store again",
                cause);
    }
}
