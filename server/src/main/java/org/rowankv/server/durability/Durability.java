package org.rowankv.server.durability;

import java.util.Locale;

/** The level that an acknowledged write survives on the server that holds it. No acknowledgement means less. */
public enum Durability {
    /** Nothing: anonymous memory, whose content ends with the last close. */
    NONE,
    /** Any crash of the process (SIGKILL included), because the operating system keeps the pages; not a power cut. */
    PROCESS,
    /** A power cut: flushed to the device before the acknowledgement. */
    POWER;

    /** The name in configuration. */
    public String parameter() {
        return name().toLowerCase(Locale.ROOT);
    }
}
