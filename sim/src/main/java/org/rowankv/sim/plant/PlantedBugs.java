package org.rowankv.sim.plant;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** All planted bugs, in tables by subject: resources of this package. */
public final class PlantedBugs {
    static final List<String> SUBJECTS = List.of(
            "areas.txt",
            "authority.txt",
            "calls.txt",
            "cluster.txt",
            "codecs.txt",
            "damage.txt",
            "driver.txt",
            "fabric.txt",
            "handover.txt",
            "index.txt",
            "jcache.txt",
            "joining.txt",
            "judges.txt",
            "keys.txt",
            "lease.txt",
            "leased.txt",
            "log.txt",
            "lost.txt",
            "near.txt",
            "opening.txt",
            "parts.txt",
            "ports.txt",
            "rdma.txt",
            "replicas.txt",
            "requests.txt",
            "retention.txt",
            "returning.txt",
            "sessions.txt",
            "starts.txt",
            "tcp.txt",
            "tools.txt");

    /** Of modules that this program does not depend on: {@code ./rowan sim --mutations --table} brings their class path. */
    static final List<String> APART = List.of("jdbc.txt", "paper.txt", "spring.txt");

    private PlantedBugs() {}

    public static List<PlantedBug> all() {
        final List<PlantedBug> all = new ArrayList<>();
        final Set<String> names = new HashSet<>();
        for (String subject : SUBJECTS) {
            for (PlantedBug bug : of(subject)) {
                if (!names.add(bug.name())) {
                    throw new IllegalStateException("two planted bugs are called '" + bug.name() + "'");
                }
                all.add(bug);
            }
        }
        return all;
    }

    /** Those of one table. */
    static List<PlantedBug> of(String subject) {
        return BugTable.parse(subject, text(subject));
    }

    private static String text(String subject) {
        try (InputStream table = PlantedBugs.class.getResourceAsStream(subject)) {
            if (table == null) {
                throw new IllegalStateException("there is no table of planted bugs " + subject);
            }
            return new String(table.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the table " + subject + " cannot be read", e);
        }
    }
}
