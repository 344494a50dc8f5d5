package org.rowankv.tck;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;
import org.jsr107.tck.CachingTest;
import org.junit.runner.JUnitCore;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.VersionedEntry;

/**
 * One run of the TCK in this JVM: every test class of its jar but those of the annotations, which need an injection
 * container. Sets system properties that the TCK and the provider read; nothing else may use JCache meanwhile.
 */
final class TckRun {
    private static final String ANNOTATIONS = "org.jsr107.tck.annotation.";
    private static final String CLASS_SUFFIX = ".class";

    private final String only;

    TckRun(int servers, String only) {
        this.only = only;
        System.setProperty("rowan.servers", Integer.toString(servers));
        System.setProperty("rowan.replicas", Integer.toString(servers));
        System.setProperty("rowan.allowed-classes", "domain.**;org.jsr107.tck.**");
        // What the TCK's own properties are called says nothing of what they are: classes to unwrap to.
        System.setProperty("javax.cache.CacheManager", RowanCacheManager.class.getName());
        System.setProperty("javax.cache.Cache", RowanCache.class.getName());
        System.setProperty("javax.cache.Cache.Entry", VersionedEntry.class.getName());
        System.setProperty("org.jsr107.tck.support.server.address", "127.0.0.1");
        System.setProperty("java.net.preferIPv4Stack", "true");
    }

    TckTally run() throws IOException {
        final TckTally tally = new TckTally();
        final JUnitCore core = new JUnitCore();
        core.addListener(tally);
        core.run(testClasses().toArray(new Class<?>[0]));
        return tally;
    }

    private List<Class<?>> testClasses() throws IOException {
        final List<String> names = new ArrayList<>();
        try (ZipFile jar = new ZipFile(jarOf(CachingTest.class).toFile())) {
            jar.stream()
                    .map(entry -> entry.getName().replace('/', '.'))
                    .filter(name -> name.endsWith("Test" + CLASS_SUFFIX) && !name.startsWith(ANNOTATIONS))
                    .map(name -> name.substring(0, name.length() - CLASS_SUFFIX.length()))
                    .filter(name -> name.contains(only))
                    .sorted()
                    .forEach(names::add);
        }
        final List<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            final Class<?> type = load(name);
            if (!Modifier.isAbstract(type.getModifiers())) {
                classes.add(type);
            }
        }
        return classes;
    }

    private static Class<?> load(String name) throws IOException {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IOException("a class of the TCK's jar cannot be loaded: " + name, e);
        }
    }

    private static Path jarOf(Class<?> type) throws IOException {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IOException("the TCK's jar cannot be found", e);
        }
    }
}
