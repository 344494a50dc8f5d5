package org.rowankv.server.area;

/**
 * The operator's overrides for doubtful findings when a store is opened.
 *
 * @param unclean {@code accept-unclean=true}: bytes that the operating system may not have written before it ended, and
 *     replicas without entries found damaged
 * @param copied {@code accept-copied=true}: files other than those this store was created with
 */
public record OpenOverrides(boolean unclean, boolean copied) {
    public static final OpenOverrides NONE = new OpenOverrides(false, false);
}
