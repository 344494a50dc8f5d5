package org.rowankv.samples.demo;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The arguments of the old and the new application: the store's location and the objects it must hold.
 *
 * @param capacityBytes per server
 * @param terminal whether progress is drawn on a terminal
 */
record DeployedStore(
        Path directory, int servers, int replicas, long capacityBytes, int objects, long seed, boolean terminal) {
    private static final long LEAST_CAPACITY = 96L << 20;
    /** Log bytes of one object, keys and headers included. */
    private static final long ENTRY_BYTES = 320;

    /** Room for all objects, half as much again for their replacements, and the minimum of a small store. */
    static long capacityFor(int objects, int servers, int replicas) {
        return LEAST_CAPACITY + (ENTRY_BYTES * objects * replicas / servers * 3 / 2 >> 20 << 20);
    }

    URI uri() {
        return URI.create("rowan:embedded?servers=" + servers + "&replicas=" + replicas + "&capacity=" + capacityBytes
                + "&dir="
                + URLEncoder.encode(directory.toString(), StandardCharsets.UTF_8)
                        .replace("+", "%20"));
    }

    List<String> toArguments() {
        return List.of(
                directory.toString(),
                String.valueOf(servers),
                String.valueOf(replicas),
                String.valueOf(capacityBytes),
                String.valueOf(objects),
                String.valueOf(seed),
                String.valueOf(terminal));
    }

    static DeployedStore ofArguments(String[] arguments) {
        return new DeployedStore(
                Path.of(arguments[0]),
                Integer.parseInt(arguments[1]),
                Integer.parseInt(arguments[2]),
                Long.parseLong(arguments[3]),
                Integer.parseInt(arguments[4]),
                Long.parseLong(arguments[5]),
                Boolean.parseBoolean(arguments[6]));
    }
}
