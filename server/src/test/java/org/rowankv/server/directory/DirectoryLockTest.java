package org.rowankv.server.directory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.area.StoreOpenException;

/** Locks of directories that are deleted, moved or linked meanwhile. */
final class DirectoryLockTest {
    @TempDir
    Path parent;

    /** The key of the deleted directory is that of another one, as file systems give them out again. */
    @Test
    void shouldNotTakeAnotherDirectoryForOneThatWasDeleted() throws IOException {
        final Path first = Files.createDirectory(parent.resolve("first"));
        final DirectoryLock deleted = DirectoryLock.take(first);
        Files.delete(first.resolve(DirectoryLock.FILE_NAME));
        final Path other = Files.move(first, parent.resolve("other"));

        final DirectoryLock held = DirectoryLock.take(other);
        deleted.release();
        assertThatThrownBy(() -> DirectoryLock.take(other))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("is open in this JVM already: one store per directory");
        held.release();
        DirectoryLock.take(other).release();
    }

    @Test
    void shouldKnowADirectoryThatWasMoved() throws IOException {
        final Path first = Files.createDirectory(parent.resolve("first"));
        final DirectoryLock held = DirectoryLock.take(first);
        final Path moved = Files.move(first, parent.resolve("moved"));
        assertThatThrownBy(() -> DirectoryLock.take(moved))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("is open in this JVM already");
        held.release();
    }

    @Test
    void shouldKnowADirectoryUnderAnotherPath() throws IOException {
        final Path first = Files.createDirectory(parent.resolve("first"));
        final DirectoryLock held = DirectoryLock.take(first);
        final Path link = Files.createSymbolicLink(parent.resolve("link"), first);
        assertThatThrownBy(() -> DirectoryLock.take(link)).hasMessageContaining("already, as " + first);
        held.release();
        DirectoryLock.take(link).release();
    }

    /** Closing a store may leave its lock behind for good, when a caller may still write. */
    @Test
    void shouldStayLockedWhenNobodyRefersToTheLockAnyMore() throws IOException {
        final Path forgotten = Files.createDirectory(parent.resolve("forgotten"));
        DirectoryLock.take(forgotten);
        awaitCollection();
        try (FileChannel another =
                FileChannel.open(forgotten.resolve(DirectoryLock.FILE_NAME), StandardOpenOption.WRITE)) {
            assertThatThrownBy(another::tryLock).isInstanceOf(OverlappingFileLockException.class);
        }
    }

    /** Until a channel that was abandoned later has been closed by the collector. */
    private void awaitCollection() throws IOException {
        final WeakReference<FileChannel> later = new WeakReference<>(
                FileChannel.open(parent.resolve("later"), StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            System.gc();
            return later.refersTo(null);
        });
    }
}
