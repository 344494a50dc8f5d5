package org.rowankv.server.configstore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A node of the configuration store as it was found in its file. */
public record NodeFile(String path, VersionedNode node) {
    private static final String SUFFIX = ".node";
    /** Stands for the slash in the name of a file; no path holds one. */
    private static final char SLASH = '+';

    private static final int MAX_FILE_NAME_LENGTH = 250;

    /** Whether a file of that name holds a node, or is to. */
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

    /** Throws ConfigurationStoreException with what is wrong with the file. */
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
