package org.rowankv.jcache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.cache.integration.CacheLoader;

/** Loader from a map that records the requested keys. */
final class MapLoader implements CacheLoader<String, String> {
    private final Map<String, String> source;
    private final List<String> loaded = new ArrayList<>();

    MapLoader(Map<String, String> source) {
        this.source = source;
    }

    synchronized List<String> loaded() {
        return List.copyOf(loaded);
    }

    @Override
    public synchronized String load(String key) {
        loaded.add(key);
        return source.get(key);
    }

    @Override
    public synchronized Map<String, String> loadAll(Iterable<? extends String> keys) {
        final Map<String, String> values = new HashMap<>();
        for (String key : keys) {
            loaded.add(key);
            values.put(key, source.get(key));
        }
        return values;
    }
}
