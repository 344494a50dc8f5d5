package org.rowankv.daemon.zookeeper;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.options.SecretFiles;

/**
 * The credential of this process for ZooKeeper. {@link #toString} hides it.
 *
 * @param scheme of ZooKeeper, {@code digest}
 * @param credential in the form of the scheme, {@code user:password}
 */
public record ZooKeeperAuth(String scheme, String credential) {

    /** Reads {@code scheme:credential} from a file; null without a file. */
    public static @Nullable ZooKeeperAuth read(@Nullable Path file) {
        if (file == null) {
            return null;
        }
        final String text = SecretFiles.read("ZooKeeper credential", file).strip();
        final int colon = text.indexOf(':');
        final boolean isDigest = text.startsWith("digest:");
        if (colon < 1 || colon == text.length() - 1 || text.lines().count() != 1) {
            throw new IllegalArgumentException("the ZooKeeper credential file " + file
                    + " is not one line scheme:credential, such as digest:user:password");
        }
        if (isDigest && text.indexOf(':', colon + 1) < 0) {
            throw new IllegalArgumentException(
                    "the ZooKeeper credential file " + file + " has no password: write digest:user:password");
        }
        return new ZooKeeperAuth(text.substring(0, colon), text.substring(colon + 1));
    }

    byte[] bytes() {
        return credential.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "ZooKeeperAuth[" + scheme + "]";
    }
}
