package org.rowankv.server.area;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * One start of the operating system. Pages that a process wrote outlive the process, not the operating system; so what
 * was not flushed to the device may be believed only under the boot id it was written under.
 *
 * <p>Where the system does not tell, the id is {@link #UNKNOWN}, which equals nothing but itself: there a restart of
 * the machine is not noticed.
 */
public record BootId(long high, long low) {
    public static final BootId UNKNOWN = new BootId(0, 0);
    private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");

    /** Reads a file: not for application threads. */
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
