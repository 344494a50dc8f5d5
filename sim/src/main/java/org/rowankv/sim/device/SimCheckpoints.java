package org.rowankv.sim.device;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.durability.DurableFile;

/**
 * One server's checkpoints on its device. A crash leaves a file's written bytes under its temporary name, and none
 * under its final name. The disk may be full for a while.
 */
public final class SimCheckpoints {
    private final Map<String, byte[]> files = new TreeMap<>();
    private int processes;
    /** Changes until the disk is full. */
    private int room = Integer.MAX_VALUE;

    private int refusals;
    private int refused;
    private final Runnable refusal;

    /** @param refusal called for each change without space */
    public SimCheckpoints(Runnable refusal) {
        this.refusal = refusal;
    }

    /** The files as the next process sees them. */
    public CheckpointStore ofProcess(@Nullable Device device) {
        return new OfProcess(++processes, device);
    }

    /** The process has ended: its code no longer changes anything. */
    public void crash() {
        processes++;
    }

    /** After this many changes of the directory, that many fail. */
    public void fill(int changes, int refusing) {
        room = changes;
        refusals = refusing;
    }

    /** Flips bits of a byte of a file. Returns whether there was one. */
    public boolean flip(int file, int at, int mask) {
        if (files.isEmpty()) {
            return false;
        }
        final byte[] bytes = List.copyOf(files.values()).get(file % files.size());
        if (bytes.length == 0) {
            return false;
        }
        bytes[at % bytes.length] ^= (byte) mask;
        return true;
    }

    private boolean isRefused() {
        if (room > 0) {
            room--;
            return false;
        }
        if (refusals == 0) {
            room = Integer.MAX_VALUE;
            return false;
        }
        refusals--;
        refused++;
        refusal.run();
        return true;
    }

    private final class OfProcess implements CheckpointStore {
        private final int process;
        private final @Nullable Device device;

        OfProcess(int process, @Nullable Device device) {
            this.process = process;
            this.device = device;
        }

        private boolean isOver() {
            return process != processes;
        }

        /** Binds the name to that content, or removes it. */
        private void put(String name, byte @Nullable [] bytes) {
            final byte[] before = bytes == null ? files.remove(name) : files.put(name, bytes);
            final Device own = device;
            if (own != null) {
                own.noteForce(() -> {
                    if (before == null) {
                        files.remove(name);
                    } else {
                        files.put(name, before);
                    }
                });
            }
        }

        @Override
        public List<String> names() {
            return List.copyOf(files.keySet());
        }

        @Override
        public ReadableByteChannel read(String name) throws IOException {
            final byte[] bytes = files.get(name);
            if (bytes == null) {
                throw new FileNotFoundException(name);
            }
            return Channels.newChannel(new ByteArrayInputStream(bytes));
        }

        @Override
        public Writing write(String name) throws IOException {
            if (isRefused()) {
                throw new DiskFullException();
            }
            return new File(name);
        }

        @Override
        public void delete(Collection<String> names) throws IOException {
            for (String name : names) {
                if (isRefused()) {
                    throw new DiskFullException();
                }
                if (!isOver()) {
                    put(name, null);
                }
            }
        }

        @Override
        public void run(String threadName, Runnable work) {
            work.run();
        }

        private final class File implements Writing {
            private final String name;
            private final String temporary;
            private final ByteArrayOutputStream written = new ByteArrayOutputStream();

            File(String name) {
                this.name = name;
                this.temporary = name + DurableFile.TEMPORARY_SUFFIX;
            }

            @Override
            public void write(ByteBuffer bytes) throws IOException {
                final boolean isFull = isRefused();
                final byte[] copy = new byte[isFull ? bytes.remaining() / 2 : bytes.remaining()];
                bytes.get(copy);
                written.writeBytes(copy);
                if (!isOver()) {
                    files.put(temporary, written.toByteArray());
                }
                Chaos.point("device.half-written");
                if (isFull) {
                    throw new DiskFullException();
                }
            }

            @Override
            public void commit() throws IOException {
                // An error may strike before the rename, or at the force of the directory.
                final boolean isFull = isRefused();
                if (!isOver() && !(isFull && refused % 2 == 0)) {
                    files.remove(temporary);
                    put(name, written.toByteArray());
                }
                if (isFull) {
                    throw new DiskFullException();
                }
            }

            @Override
            public void close() {
                if (!isOver()) {
                    files.remove(temporary);
                }
                written.reset();
            }
        }
    }
}
