package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.PrivateFiles;

/** Checkpoints in their own directory: each file is written under a temporary name, forced, and renamed. */
public final class CheckpointFiles implements CheckpointStore {
    private final Path directory;

    /** @param directory created with the first file */
    public CheckpointFiles(Path directory) {
        this.directory = directory;
    }

    @Override
    public List<String> names() throws IOException {
        final List<String> names = new ArrayList<>();
        if (Files.isDirectory(directory)) {
            try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
                found.forEach(file -> names.add(file.getFileName().toString()));
            }
        }
        return names;
    }

    @Override
    public ReadableByteChannel read(String name) throws IOException {
        return FileChannel.open(directory.resolve(name), StandardOpenOption.READ);
    }

    @Override
    public Writing write(String name) throws IOException {
        if (!Files.isDirectory(directory)) {
            PrivateFiles.makeDirectories(directory);
            DurableFile.forceDirectory(directory);
        }
        final Path file = directory.resolve(name);
        final Path temporary = directory.resolve(name + DurableFile.TEMPORARY_SUFFIX);
        final FileChannel channel = PrivateFiles.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        return new Writing() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }

            @Override
            public void commit() throws IOException {
                channel.force(true);
                channel.close();
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                DurableFile.forceDirectory(file);
            }

            @Override
            public void close() throws IOException {
                channel.close();
                Files.deleteIfExists(temporary);
            }
        };
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        for (String name : names) {
            Files.deleteIfExists(directory.resolve(name));
        }
        if (!names.isEmpty() && Files.isDirectory(directory)) {
            DurableFile.forceDirectory(directory.resolve("any"));
        }
    }

    @Override
    public void run(String threadName, Runnable work) {
        FileThread.run(threadName, work);
    }
}
