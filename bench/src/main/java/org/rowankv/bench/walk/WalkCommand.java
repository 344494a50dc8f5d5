package org.rowankv.bench.walk;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code rowan bench walk}: number of classes on the path of a put and a get. */
@Command(
        name = "walk",
        mixinStandardHelpOptions = true,
        description = {
            "Counts the classes of Rowan-KV that a put and a get enter, through javax.cache: in an embedded store, and over TCP to a"
                    + " server in this JVM. With one server, without its agents.",
            "Stations are classes that call another one on the path; the others are leaves.",
            "An instrumentation agent records each entry and exit of a method."
        })
public final class WalkCommand implements Callable<Integer> {
    private static final int WARM_UP = 2_000;
    private static final int CALLS = 101;
    private static final String LOOPS = "rowan-clients-";

    @Spec
    private CommandSpec spec;

    @Option(names = "--classes", description = "print their names, stations with a >, in the order of the first call")
    private boolean classes;

    @Override
    public Integer call() throws IOException {
        Entering.install();
        try (CachingProvider provider = new RowanCachingProvider()) {
            walk("embedded", provider, URI.create("rowan:embedded?name=walk"));
            final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
                with.servers = 1;
                with.replicas = 1;
            });
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                    EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0))) {
                walk("TCP", provider, URI.create("rowan://" + String.join(",", ports.addresses())));
            }
        }
        return 0;
    }

    private void walk(String way, CachingProvider provider, URI uri) {
        try (CacheManager manager = provider.getCacheManager(uri, null)) {
            final Cache<String, String> cache = manager.createCache(
                    "walk", new MutableConfiguration<String, String>().setTypes(String.class, String.class));
            final String own = Thread.currentThread().getName();
            final Predicate<String> counts = thread -> thread.equals(own) || thread.startsWith(LOOPS);
            print("put, " + way, walked(() -> cache.put("key", "value"), counts));
            print("get, " + way, walked(() -> cache.get("key"), counts));
        }
    }

    private static List<Walk.Visit> walked(Runnable call, Predicate<String> counts) {
        for (int i = 0; i < WARM_UP; i++) {
            call.run();
        }
        return Walk.of(call, CALLS, counts);
    }

    private void print(String title, List<Walk.Visit> visits) {
        final PrintWriter out = spec.commandLine().getOut();
        final long stations = visits.stream().filter(Walk.Visit::station).count();
        out.printf("%-14s %d classes, %d stations%n", title, visits.size(), stations);
        if (classes) {
            visits.forEach(visit -> out.println((visit.station() ? "  > " : "    ") + visit.type()));
        }
        out.flush();
    }
}
