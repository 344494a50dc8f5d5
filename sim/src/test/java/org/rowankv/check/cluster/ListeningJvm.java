package org.rowankv.check.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import org.rowankv.jcache.event.EventsLostListener;
import org.rowankv.jcache.spi.RowanCachingProvider;

/**
 * A client JVM with a listener: prints its events ({@code HEARD type key=value}, {@code LOST}), and puts the pairs it
 * reads ({@code key value}) until its input ends.
 */
final class ListeningJvm
        implements CacheEntryCreatedListener<String, Long>,
                CacheEntryUpdatedListener<String, Long>,
                CacheEntryRemovedListener<String, Long>,
                EventsLostListener {
    static final String CACHE = "heard";

    private ListeningJvm() {}

    static Cache<String, Long> cache(CacheManager manager) {
        return manager.createCache(CACHE, new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
    }

    static CacheManager manager(String uri) {
        return new RowanCachingProvider().getCacheManager(URI.create(uri), null, new Properties());
    }

    /** Argument: the store's URI. */
    public static void main(String[] arguments) throws IOException {
        try (CacheManager manager = manager(arguments[0]);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            final Cache<String, Long> cache = cache(manager);
            cache.registerCacheEntryListener(
                    new MutableCacheEntryListenerConfiguration<>(ListeningJvm::new, null, false, true));
            print("READY");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                final String[] words = line.split(" ", 2);
                cache.put(words[0], Long.parseLong(words[1]));
                print("PUT " + words[0]);
            }
        }
    }

    private static void print(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    private static void hear(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        events.forEach(event -> print("HEARD " + event.getEventType() + " " + event.getKey() + "=" + event.getValue()));
    }

    @Override
    public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
        hear(events);
    }

    @Override
    public void onEventsLost(String cacheName, long times) {
        print("LOST");
    }
}
