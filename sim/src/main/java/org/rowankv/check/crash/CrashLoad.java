package org.rowankv.check.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.rowankv.check.area.Stored;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.durability.DurableFile;

/**
 * One thread's share of the load: puts, conditional puts, removals and clears at full speed. Each is recorded before it
 * begins and after its reply. Owned by its thread.
 */
final class CrashLoad implements Runnable {
    private static final int ENTRY_ALIGNMENT = 64;
    private static final int LARGEST_PIECE = 48 * 1024;

    private final int thread;
    private final RowanClient client;
    private final int[] cacheIds;
    private final Journal.Writer journal;
    private final RandomSource random;
    private final Path directory;
    private final Request request = new Request();
    private final long[] version;
    private byte[] value = new byte[LARGEST_PIECE];
    private volatile boolean over;

    CrashLoad(int thread, RowanClient client, int[] cacheIds, Journal.Writer journal, RandomSource random, Path dir) {
        this.thread = thread;
        this.client = client;
        this.cacheIds = cacheIds;
        this.journal = journal;
        this.random = random;
        this.directory = dir;
        this.version = new long[CrashKeys.count(CrashKeys.PLAIN)];
    }

    void end() {
        over = true;
    }

    @Override
    public void run() {
        while (!over && !journal.isFull()) {
            final int die = random.nextInt(1000);
            if (die < 700) {
                change(CrashKeys.PLAIN);
            } else if (die < 850) {
                change(CrashKeys.SHARED);
            } else if (die < 995) {
                change(CrashKeys.SCRATCH + thread);
            } else if (die < 999) {
                mirror();
            } else {
                clear(CrashKeys.SCRATCH + thread);
            }
        }
    }

    private void change(int cache) {
        final int index = random.nextInt(CrashKeys.count(cache));
        final int number = CrashKeys.number(cache, thread, index);
        final byte[] key = CrashKeys.bytes(number);
        final int die = random.nextInt(10);
        if (die < 3) {
            remove(cache, number, key);
            return;
        }
        final int length = fill();
        request.put(cacheIds[cache], key, 0, key.length, value, 0, length);
        if (die == 3) {
            request.when(Condition.IF_ABSENT);
        } else if (die == 4 && cache == CrashKeys.PLAIN) {
            request.when(Condition.IF_VERSION, version[index]);
        } else if (die == 5) {
            request.requestValue(true);
        }
        carryOut(Journal.Kind.STORE, cache, number, Stored.of(value, length, 0));
        if (cache == CrashKeys.PLAIN && request.status() == Status.OK) {
            version[index] = request.version();
        }
    }

    private void remove(int cache, int number, byte[] key) {
        request.delete(cacheIds[cache], key, 0, key.length);
        carryOut(Journal.Kind.REMOVE, cache, number, Stored.absent(0));
    }

    /** Draws a random length, mostly short, and fills the value. */
    private int fill() {
        final int die = random.nextInt(100);
        final int length = die < 80 ? random.nextInt(300) : die < 98 ? random.nextInt(5_000) : random.nextInt(30_000);
        long word = random.nextLong();
        for (int at = 0; at < length; at++) {
            value[at] = (byte) word;
            word = (at & 7) == 7 ? word * 0x5851F42D4C957F2DL + 0x14057B7EF767814FL : word >>> 8 | word << 56;
        }
        return length;
    }

    /** Puts a piece of one of the store's own files, cut where entries begin. */
    private void mirror() {
        try {
            final List<Path> files = filesOfTheStore();
            final Path file = files.get(random.nextInt(files.size()));
            final int strides = (int) Math.min(Files.size(file) / ENTRY_ALIGNMENT, Integer.MAX_VALUE);
            if (strides == 0) {
                return;
            }
            final long from = (long) random.nextInt(strides) * ENTRY_ALIGNMENT;
            final int length;
            try (InputStream in = Files.newInputStream(file)) {
                in.skipNBytes(from);
                length = in.readNBytes(value, 0, 1 + random.nextInt(LARGEST_PIECE));
            }
            final int index = random.nextInt(CrashKeys.count(CrashKeys.MIRROR));
            final int number = CrashKeys.number(CrashKeys.MIRROR, thread, index);
            final byte[] key = CrashKeys.bytes(number);
            request.put(cacheIds[CrashKeys.MIRROR], key, 0, key.length, value, 0, length);
            carryOut(Journal.Kind.STORE, CrashKeys.MIRROR, number, Stored.of(value, length, 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lists only permanent files: checkpoints and temporary replacement files may vanish at any moment. */
    private List<Path> filesOfTheStore() throws IOException {
        final List<Path> files = new ArrayList<>();
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) {
                return visited.getFileName().toString().startsWith("checkpoint-")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (!isTemporary(file)) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (isTemporary(file)) {
                    return FileVisitResult.CONTINUE; // deleted since it was listed
                }
                throw failure;
            }

            private boolean isTemporary(Path file) {
                return file.getFileName().toString().endsWith(DurableFile.TEMPORARY_SUFFIX);
            }
        });
        files.sort(Comparator.naturalOrder());
        return files;
    }

    private void clear(int cache) {
        journal.attempt(Journal.Kind.CLEAR, cache, 0, Stored.absent(0));
        client.clear(cacheIds[cache]);
        journal.acked(0);
    }

    private void carryOut(Journal.Kind kind, int cache, int number, Stored stored) {
        journal.attempt(kind, cache, number, stored);
        client.execute(request);
        switch (request.status()) {
            case OK -> journal.acked(request.version());
            case NOT_FOUND, CONDITION_FAILED -> journal.nothingDone(Journal.State.NOTHING);
            case FULL -> journal.nothingDone(Journal.State.FULL);
            default ->
                throw new IllegalStateException(kind + " of k" + number + " in " + CrashKeys.cacheName(cache)
                        + " answered " + request.status());
        }
    }
}
