package org.rowankv.server.area;

/**
 * Which doubtful finds the operator accepts when a store is opened.
 *
 * @param unclean {@code accept-unclean=true}: bytes that the operating system may not have written before it ended, and
 *     replicas that lack what was found damaged
 * @param copied {@code accept-copied=true}: files that are not the ones this store was created with
 */
public record OpenOverrides(boolean unclean, boolean copied) {
    public static final OpenOverrides NONE = new OpenOverrides(false, false);
}
