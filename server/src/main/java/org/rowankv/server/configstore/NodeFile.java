package org.rowankv.server.configstore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A node of the configuration store with its path, read from its file. */
public record NodeFile(String path, VersionedNode node) {
    private static final String SUFFIX = ".node";
    /** Replaces the slash in the name of a file; no path contains it. */
    private static final char SLASH = '+';

    private static final int MAX_FILE_NAME_LENGTH = 250;

    /** Whether that is the name of a node's file. */
    public static boolean isNamed(String fileName) {
        return fileName.endsWith(SUFFIX);
    }

    public static Path of(Path directory, String path) {
        final String name = path.substring(1).replace('/', SLASH) + SUFFIX;
        if (name.length() > MAX_FILE_NAME_LENGTH) {
            throw new IllegalArgumentException("path is too long for a file: " + path);
        }
        return directory.resolve(name);
    }

    /** Throws ConfigurationStoreException with the cause if the file is invalid. */
    public static NodeFile read(Path directory, Path file) throws IOException {
        final byte[] bytes = Files.readAllBytes(file);
        final String reason = NodeDescriptor.whyInvalid(bytes);
        if (reason != null) {
            throw new ConfigurationStoreException("the configuration in " + file + " cannot be read: " + reason
                    + ". Put the store back from a backup");
        }
        final String path = NodeDescriptor.path(bytes);
        if (!of(directory, path).getFileName().equals(file.getFileName())) {
            throw new ConfigurationStoreException("the configuration in " + file + " belongs to " + of(directory, path)
                    + ": files were renamed. Put the store back from a backup");
        }
        return new NodeFile(path, NodeDescriptor.node(bytes));
    }
}
