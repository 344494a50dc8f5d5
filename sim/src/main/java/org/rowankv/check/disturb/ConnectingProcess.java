package org.rowankv.check.disturb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds the process at the other end of a connection of this machine, in Linux's /proc. */
final class ConnectingProcess {
    private static final Path PROC = Path.of("/proc");
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int INODE = 9;

    private ConnectingProcess() {}

    /** Whether this system says it. */
    static boolean isKnown() {
        return Files.isReadable(PROC.resolve("net/tcp"));
    }

    /** Whether a process holds the socket that is bound to the first port, and connected to the second. */
    static boolean holds(long pid, int port, int connectedTo) {
        final String inode = inode(port, connectedTo);
        if (inode == null) {
            return false;
        }
        final String link = "socket:[" + inode + "]";
        try (DirectoryStream<Path> open = Files.newDirectoryStream(PROC.resolve(pid + "/fd"))) {
            for (Path each : open) {
                if (isLink(each, link)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // it has ended
        }
        return false;
    }

    private static boolean isLink(Path descriptor, String link) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(link);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private static @Nullable String inode(int port, int connectedTo) {
        final String local = String.format(Locale.ROOT, ":%04X", port);
        final String remote = String.format(Locale.ROOT, ":%04X", connectedTo);
        for (String table : new String[] {"net/tcp6", "net/tcp"}) {
            try {
                for (String line : Files.readAllLines(PROC.resolve(table), StandardCharsets.ISO_8859_1)) {
                    final String[] words = line.strip().split("\\s+");
                    if (words.length > INODE && words[LOCAL].endsWith(local) && words[REMOTE].endsWith(remote)) {
                        return words[INODE];
                    }
                }
            } catch (IOException e) {
                continue; // without IPv6 there is one table
            }
        }
        return null;
    }
}
