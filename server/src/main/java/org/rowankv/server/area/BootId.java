package org.rowankv.server.area;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * The identity of one start of the operating system. Pages that a process wrote outlive the process, not the operating
 * system. So unflushed bytes are reliable only under the boot id that they were written under.
 *
 * <p>Where the system provides no id, it is {@link #UNKNOWN}, which equals only itself: a restart of the machine is not
 * detected there.
 */
public record BootId(long high, long low) {
    public static final BootId UNKNOWN = new BootId(0, 0);
    private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");

    /** Reads a file: never on application threads. */
    public static BootId current() {
        try {
            return parse(Files.readString(LINUX, StandardCharsets.US_ASCII));
        } catch (IOException | IllegalArgumentException e) {
            return UNKNOWN;
        }
    }

    static BootId parse(String text) {
        final UUID id = UUID.fromString(text.strip());
        return new BootId(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    @Override
    public String toString() {
        return equals(UNKNOWN) ? "unknown" : new UUID(high, low).toString();
    }
}
