package org.rowankv.tck;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.cache.CacheManager;
import javax.cache.Caching;
import org.jspecify.annotations.Nullable;
import org.junit.runner.JUnitCore;
import org.rowankv.check.local.DeviceCluster;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.operation.VersionedEntry;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.membership.ClusterShape;

/**
 * One run of TCK test classes, the only one in its JVM: the TCK leaves managers open, and it and the provider read the
 * system properties set here. Of the product's settings that is the URI alone. No other code may use JCache meanwhile.
 */
final class TckRun {
    /** Of a store that others write to. The last pattern covers the keys of the reference implementation's interceptors. */
    private static final String CLASSES = "allowed-classes=domain.**;org.jsr107.tck.**;org.jsr107.ri.annotations.**";

    private final List<Class<?>> testClasses;
    private final boolean isNear;
    /** Servers reached over ports: open for the length of this run; null if the provider runs the servers itself. */
    private @Nullable EmbeddedCluster cluster;

    private @Nullable EmbeddedPorts ports;
    /** Server processes, owned by the caller; null if the servers are in this JVM. */
    private @Nullable TemporaryCluster processes;
    /** Servers with model devices, owned by the caller; null otherwise. */
    private @Nullable DeviceCluster devices;

    TckRun(TemporaryCluster processes, List<Class<?>> testClasses) {
        this.testClasses = testClasses;
        this.isNear = false;
        this.processes = processes;
        setUri(fileOf("uri=" + processes.uri(), CLASSES));
    }

    TckRun(DeviceCluster devices, List<Class<?>> testClasses) {
        this.testClasses = testClasses;
        this.isNear = false;
        this.devices = devices;
        setUri(fileOf("uri=" + devices.uri(), CLASSES));
    }

    /**
     * @param overPorts whether the provider uses client ports, although the servers are in this JVM
     * @param near whether caches keep decoded values
     */
    TckRun(int servers, boolean overPorts, boolean near, List<Class<?>> testClasses) {
        this.testClasses = testClasses;
        this.isNear = near;
        if (overPorts) {
            cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                with.servers = servers;
                with.replicas = servers;
            }));
            ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
            setUri(fileOf("uri=rowan://" + String.join(",", ports.addresses()) + "/", CLASSES));
        } else if (servers == 1 && !near) {
            setUri("rowan:embedded");
        } else {
            setUri(fileOf(
                    "servers=" + servers, "replicas=" + servers, "template.*.near=" + (near ? "validated" : "off")));
        }
    }

    /** The TCK makes names of MBeans from the URI, which may have no parameters then. */
    private static String fileOf(String... settings) {
        try {
            final Path file = Files.createTempFile("rowan-tck", ".properties");
            file.toFile().deleteOnExit();
            return Files.write(file, List.of(settings)).toUri().toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void setUri(String uri) {
        System.setProperty(StoreSettings.URI_PROPERTY, uri);
        // Those of the TCK follow. Despite their names, these hold the classes to unwrap to.
        System.setProperty("javax.cache.CacheManager", RowanCacheManager.class.getName());
        System.setProperty("javax.cache.Cache", RowanCache.class.getName());
        System.setProperty("javax.cache.Cache.Entry", VersionedEntry.class.getName());
        // Statistics are exact at once.
        System.setProperty("org.jsr107.tck.management.statistics.timeout.seconds", "0");
        System.setProperty("org.jsr107.tck.support.server.address", "127.0.0.1");
        System.setProperty("java.net.preferIPv4Stack", "true");
    }

    /** Prints the store's description as every test will find it at the default manager. */
    void describe(String label, PrintStream out) {
        final TemporaryCluster there = processes;
        if (there != null) {
            final LocalCluster.Shape shape = there.cluster().shape();
            out.println(label + ": servers=" + shape.servers() + " replicas=" + shape.replicas()
                    + " over=server-processes java=" + Runtime.version());
            return;
        }
        final DeviceCluster model = devices;
        if (model != null) {
            final ClusterShape shape = model.shape();
            out.println(label + ": servers=" + shape.servers() + " replicas=" + shape.replicas()
                    + " over=client-ports fabric=" + shape.fabric().parameter() + " java=" + Runtime.version());
            return;
        }
        try (CacheManager manager = Caching.getCachingProvider().getCacheManager()) {
            final EmbeddedCluster reached = cluster;
            final EmbeddedSettings settings =
                    (reached == null ? manager.unwrap(EmbeddedCluster.class) : reached).settings();
            out.println(label + ": servers=" + settings.shape().servers() + " replicas="
                    + settings.shape().replicas()
                    + (reached == null ? "" : " over=client-ports")
                    + (isNear ? " near=validated" : "")
                    + " java="
                    + Runtime.version());
        }
    }

    TckTally run() {
        final TckTally tally = new TckTally();
        final JUnitCore core = new JUnitCore();
        core.addListener(tally);
        final Exclusions exclusions = new Exclusions(tally::onExclusion);
        try {
            core.run(testClasses.toArray(new Class<?>[0]));
        } finally {
            exclusions.close();
            if (ports != null && cluster != null) {
                ports.close();
                cluster.close();
            }
        }
        return tally;
    }
}
