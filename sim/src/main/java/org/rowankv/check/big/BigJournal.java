package org.rowankv.check.big;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What a process that is killed has seen: a line an event, in a file that outlives it. Thread-safe, for one writing process.
 *
 * <pre>
 *   acked VERSION      a put was acknowledged
 *   read VERSION       a whole value was read
 *   found VERSION      the value after the start; 0: none
 *   refused STATUS     an operation that was allowed to fail did
 *   bad TEXT           what must never happen
 *   done               all that was asked for
 * </pre>
 */
final class BigJournal implements AutoCloseable {
    private final FileChannel file;

    BigJournal(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    synchronized void add(String word, Object rest) {
        try {
            final byte[] line = (word + " " + rest + "\n").getBytes(StandardCharsets.UTF_8);
            file.write(java.nio.ByteBuffer.wrap(line));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The rest of each whole line that begins with the word. */
    static List<String> read(Path path, String word) throws IOException {
        final List<String> found = new ArrayList<>();
        if (!Files.exists(path)) {
            return found;
        }
        final String text = Files.readString(path);
        for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n", -1)) {
            if (line.startsWith(word + " ")) {
                found.add(line.substring(word.length() + 1));
            }
        }
        return found;
    }

    static long largest(Path path, String word) throws IOException {
        return read(path, word).stream().mapToLong(Long::parseLong).max().orElse(0);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
