package org.rowankv.check.disturb;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.rowankv.daemon.local.LocalCluster;

/**
 * A small file system in memory (tmpfs) for the data of each server, which can be filled. Needs root on Linux. For one
 * thread.
 */
public final class SmallDisks implements AutoCloseable {
    private static final int MOUNT_TIMEOUT_SECONDS = 20;
    private static final int CHUNK = 64 << 10;

    private final List<Path> disks = new ArrayList<>();
    private final Thread atExit = new Thread(this::unmount, "small-disks-end");

    /** Whether this process may mount them. */
    public static boolean areAvailable() {
        return "root".equals(System.getProperty("user.name"))
                && Files.isExecutable(Path.of("/usr/bin/mount"))
                && Files.isReadable(Path.of("/proc/mounts"));
    }

    /**
     * Mounts one for each server of a cluster that has not been started.
     *
     * @param megabytes of each, more than a server's data need
     */
    public SmallDisks(LocalCluster cluster, int megabytes) throws IOException {
        Runtime.getRuntime().addShutdownHook(atExit);
        for (int server = 0; server < cluster.shape().servers(); server++) {
            final Path data = cluster.dataOf(server);
            final Path disk = data.resolveSibling("disk-of-" + ClusterProcesses.name(server));
            Files.createDirectories(disk);
            run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m,mode=700", "tmpfs", disk.toString());
            disks.add(disk);
            Files.createDirectory(disk.resolve("data"));
            Files.createSymbolicLink(data, disk.resolve("data"));
        }
    }

    private static void run(String... command) throws IOException {
        final Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (!process.waitFor(MOUNT_TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("this failed: " + String.join(" ", command));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    /** Leaves not a byte of a server's disk. */
    public void fill(int server) throws IOException {
        for (int chunk = CHUNK; chunk > 0; chunk /= 2) {
            final byte[] bytes = new byte[chunk];
            try (OutputStream out = Files.newOutputStream(disks.get(server).resolve("filler-" + chunk))) {
                while (true) {
                    out.write(bytes);
                }
            } catch (IOException e) {
                continue; // no room for another one of this length
            }
        }
    }

    /** Removes what fills a server's disk. */
    public void free(int server) throws IOException {
        for (int chunk = CHUNK; chunk > 0; chunk /= 2) {
            Files.deleteIfExists(disks.get(server).resolve("filler-" + chunk));
        }
    }

    private void unmount() {
        for (Path disk : disks) {
            try {
                run("umount", "-l", disk.toString());
            } catch (IOException e) {
                System.err.println("chaos: " + e.getMessage());
            }
        }
        disks.clear();
    }

    /** Unmounts them; their content is gone. */
    @Override
    public void close() {
        unmount();
        try {
            final boolean removed = Runtime.getRuntime().removeShutdownHook(atExit);
            assert removed;
        } catch (IllegalStateException e) {
            // This process is ending: the hook finds nothing to do.
            assert e.getMessage() != null;
        }
    }
}
