package org.rowankv.server.directory;

import java.nio.file.Path;

/**
 * A damaged place in a store's files.
 *
 * @param offset in the file, in bytes
 */
public record Damage(Path file, long offset, String reason) {}
