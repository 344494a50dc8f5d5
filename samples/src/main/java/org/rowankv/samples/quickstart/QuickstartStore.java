package org.rowankv.samples.quickstart;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import javax.cache.CacheManager;

/** What the quickstart runs against: servers that keep what they hold when everything that is open is closed. */
public interface QuickstartStore {
    /** What it is made of, for people. */
    String description();

    /** By which JCache finds it. */
    URI uri();

    /** What the servers did so far, lines for people; the manager has the store open. */
    List<String> table(CacheManager manager) throws IOException;

    /** Nobody has it open: brings it to where only what lies in its files is left, and can be opened again; says what it did. */
    String reopen() throws IOException;

    /** Nobody has it open any more, for good: where replicas do not hold the same, a line each. */
    List<String> differences() throws IOException;
}
