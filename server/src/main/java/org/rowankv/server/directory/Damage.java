package org.rowankv.server.directory;

import java.nio.file.Path;

/**
 * A place in a store's files that is not what was written there.
 *
 * @param offset in the file, in bytes
 */
public record Damage(Path file, long offset, String reason) {}
