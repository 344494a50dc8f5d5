package org.rowankv.server.area;

/**
 * An area's file is not what it was when it was mapped: cut off, removed, replaced, or its device gives no bytes any more.
 * Whoever reads the mapping may find zeros, old bytes, or a fault; so nothing that is read from it counts any more.
 */
public final class LostAreaException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    LostAreaException(String what) {
        super(what
                + " while the store was open: it was stopped, and nobody is answered any more, since what is read from"
                + " it could be wrong. Close the store and see who touches its files; then open it again if there is"
                + " another replica, or put it back from a copy");
    }

    /** What some file of a store in a directory has given instead of bytes. */
    public LostAreaException(String directory, InternalError fault) {
        this("a file in " + directory + " could not be read or written (" + fault.getMessage() + ")");
        initCause(fault);
    }
}
