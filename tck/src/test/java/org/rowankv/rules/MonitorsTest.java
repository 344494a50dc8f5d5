package org.rowankv.rules;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Where an application's threads come by, nothing waits inside {@code synchronized}: until Java 24 a virtual thread that
 * does so keeps its carrier. Locks wait; a monitor guards fields for the time of a few instructions, or has a proof here.
 */
final class MonitorsTest {
    private static final Set<String> CLIENT_SIDE =
            Set.of("runtime", "protocol", "driver", "jcache-provider", "jdbc", "micrometer", "spring-boot-starter");

    private static final Pattern MONITOR = Pattern.compile("(?m)^(?! *\\*).*\\bsynchronized\\b(?! hash)");

    /** By file: why nothing in its monitors waits. */
    private static final Map<String, String> PROOFS = Map.ofEntries(
            entry("ErrorLog", "counts, and logs a failure"),
            entry("AsyncReader", "a field, and the start of a thread"),
            entry("NetChanges", "fields, and starts of threads; the pollers are joined outside"),
            entry("RowanClient", "a field"),
            entry("ClientSessionPool", "fields"),
            entry("RowanCacheManager", "a field"),
            entry("CacheProxy", "a field"),
            entry("DeliveredChanges", "fields"),
            entry("Subscription", "a queue that takes no more than fits, and a log line"),
            entry("ShownBean", "the names of MBeans"),
            entry("MBeanNameQueues", "the MBean server of this JVM"),
            entry("CacheFailures", "two counts"));

    private static Set<String> filesWithMonitors() {
        final Set<String> found = new TreeSet<>();
        for (Path file : SourceFiles.all()) {
            final String module = SourceFiles.root().relativize(file).getName(0).toString();
            if (CLIENT_SIDE.contains(module) && hasMonitor(MessageCodes.textOf(file))) {
                found.add(file.getFileName().toString().replace(".java", ""));
            }
        }
        return found;
    }

    private static boolean hasMonitor(String source) {
        return MONITOR.matcher(source).find();
    }

    @Test
    void shouldHaveAProofForEachMonitor() {
        assertThat(filesWithMonitors()).isEqualTo(new TreeSet<>(PROOFS.keySet()));
    }

    @Test
    void shouldFindMonitors() {
        for (String source : List.of("    synchronized (this) {", "    public synchronized void close() {")) {
            assertThat(hasMonitor("class A {\n" + source)).as(source).isTrue();
        }
        assertThat(hasMonitor("/**\n * Not synchronized.\n */")).isFalse();
    }
}
