package org.rowankv.samples.quickstart;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import javax.cache.CacheManager;

/** A store that the quickstart runs against: servers whose content survives the close of all clients. */
public interface QuickstartStore {
    /** Human-readable description. */
    String description();

    URI uri();

    /** Called when half of the objects are put; returns what happened, or nothing. */
    default String halfway() throws IOException {
        return "";
    }

    /** Human-readable statistics of the servers; the manager has the store open. */
    List<String> table(CacheManager manager) throws IOException;

    /**
     * Reduces the store to its files and makes it openable again; returns a description. Precondition: the store is
     * closed.
     */
    String reopen() throws IOException;

    /** A command that shows the objects, for a store that is kept; else nothing. */
    default String command() {
        return "";
    }

    /** Returns one line per difference between replicas. Precondition: the store is closed for good. */
    List<String> differences() throws IOException;
}
