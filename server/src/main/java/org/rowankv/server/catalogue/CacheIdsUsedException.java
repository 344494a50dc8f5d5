package org.rowankv.server.catalogue;

/** No cache can be created: each id was assigned once, and none is assigned twice. */
public final class CacheIdsUsedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    CacheIdsUsedException(int ids) {
        super("a store has used all of its " + ids
                + " cache ids, destroyed caches included: copy the objects to a new store");
    }
}
