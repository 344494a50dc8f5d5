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
            "cluster.txt",
            "driver.txt",
            "fabric.txt",
            "index.txt",
            "jcache.txt",
            "joining.txt",
