package org.rowankv.daemon.options;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.SecureSeed;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and creates small files with a secret. Messages never contain the secret. */
public final class SecretFiles {
    /** Far more than any secret has. */
    private static final int MOST_BYTES = 4096;

    private static final Set<PosixFilePermission> OWNER_ONLY =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    /** Created at first use: after the logging was set up. */
    private static final class Log {
        static final Logger LOG = LoggerFactory.getLogger(SecretFiles.class);
    }

    private SecretFiles() {}

    /**
     * The cluster's secret, from a file or from the environment; null if neither is set.
     *
     * @param text of the environment variable
     * @throws IllegalArgumentException if it cannot be read, is too short, or both are set
     */
    public static @Nullable ClusterSecret clusterSecret(@Nullable Path file, @Nullable String text) {
        if (file != null && text != null) {
            throw new IllegalArgumentException("the cluster's secret is given twice: by --cluster-secret-file and by "
                    + OptionDefaults.SECRET_VARIABLE + " in the environment. Give one of them");
        }
        if (file != null) {
            return ClusterSecret.of("the secret in " + file, read("secret", file));
        }
        return text == null ? null : ClusterSecret.of(OptionDefaults.SECRET_VARIABLE + " in the environment", text);
    }

    /**
     * The content of a file. Warns if other users of the machine may read or write it.
     *
     * @param kind of the file, in messages
     * @throws IllegalArgumentException if it cannot be read, is longer than any secret, or is not UTF-8
     */
    public static String read(String kind, Path file) {
        final byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = in.readNBytes(MOST_BYTES + 1);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "the " + kind + " file " + file + " cannot be read: " + reason(e)
                            + ". Give a file that this process may read",
                    e);
        }
        if (bytes.length > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "the " + kind + " file " + file + " has more than " + MOST_BYTES + " bytes: it is another file");
        }
        warnIfOpen(kind, file);
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            // No replacement characters: different files would yield the same secret.
            throw new IllegalArgumentException(
                    "the " + kind + " file " + file + " is not text in UTF-8. Give a file that holds one line of text",
                    e);
        }
    }

    private static String reason(IOException e) {
        return e instanceof java.nio.file.NoSuchFileException
                ? "there is no such file"
                : e.getClass().getSimpleName().replace("Exception", "").toLowerCase(Locale.ROOT);
    }

    /** A warning only: containers mount secrets readable for all users inside, of which there is one. */
    private static void warnIfOpen(String kind, Path file) {
        try {
            final Set<PosixFilePermission> open = EnumSet.copyOf(OTHERS);
            open.retainAll(Files.getPosixFilePermissions(file));
            if (!open.isEmpty()) {
                Log.LOG.warn(
                        "ROWAN-4001 The {} file {} may be read or written by other users of this machine: chmod 600"
                                + " closes it",
                        kind,
                        file);
            }
        } catch (IOException | UnsupportedOperationException e) {
            Log.LOG.debug("Permissions of {} unknown", file, e);
        }
    }

    /** Generates 128 random bits and stores them for the owner only, unless the file exists. */
    public static void createIfAbsent(Path file) throws IOException {
        if (Files.exists(file)) {
            return;
        }
        final String text = "%016x%016x%n".formatted(SecureSeed.next(), SecureSeed.next());
        final boolean posix =
                Files.getFileStore(file.toAbsolutePath().getParent()).supportsFileAttributeView("posix");
        final FileAttribute<?>[] attributes = posix
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
                : new FileAttribute<?>[0];
        try {
            final Path created = Files.createFile(file, attributes);
            Files.writeString(created, text, StandardCharsets.UTF_8);
        } catch (FileAlreadyExistsException e) {
            Log.LOG.debug("{} was created by another process", file, e);
        }
    }
}
