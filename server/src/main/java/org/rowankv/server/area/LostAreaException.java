package org.rowankv.server.area;

/**
 * An area's file changed after it was mapped: truncated, removed, replaced, or its device returns no bytes. A read of
 * the mapping may return zeros or old bytes, or fault; so nothing read from it counts any more.
 */
public final class LostAreaException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    LostAreaException(String what) {
        super(what
                + " while the store was open: the store was stopped and answers no more requests, since what is read from"
                + " it could be wrong. Close the store and find out what changes its files; then open it again if there is"
                + " another replica, or put it back from a copy");
    }

    /** For a read or write fault in some file of a data directory. */
    public LostAreaException(String directory, InternalError fault) {
        this("a file in " + directory + " could not be read or written (" + fault.getMessage() + ")");
        initCause(fault);
    }
}
