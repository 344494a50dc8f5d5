package org.rowankv.jcache;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.integration.CacheWriter;
import javax.cache.integration.CacheWriterException;

/** Writer that records its calls in order, {@code k=v} and {@code -k}; fails on preset keys. */
class RecordingWriter implements CacheWriter<String, String> {
    private final List<String> written;
    private final Set<String> failing = new HashSet<>();

    RecordingWriter() {
        this.written = new ArrayList<>();
    }

    /** Shares the record of another writer. */
    RecordingWriter(RecordingWriter other) {
        this.written = other.written;
    }

    synchronized List<String> written() {
        return List.copyOf(written);
    }

    synchronized void clear() {
        written.clear();
    }

    synchronized void failOn(String key) {
        failing.add(key);
    }

    @Override
    public synchronized void write(Cache.Entry<? extends String, ? extends String> entry) {
        check(entry.getKey());
        written.add(entry.getKey() + "=" + entry.getValue());
    }

    private void check(Object key) {
        if (failing.contains(key)) {
            throw new CacheWriterException("preset failure on " + key);
        }
    }

    @Override
    public synchronized void writeAll(Collection<Cache.Entry<? extends String, ? extends String>> entries) {
        for (Iterator<Cache.Entry<? extends String, ? extends String>> each = entries.iterator(); each.hasNext(); ) {
            write(each.next());
            each.remove();
        }
    }

    @Override
    public synchronized void delete(Object key) {
        check(key);
        written.add("-" + key);
    }

    @Override
    public synchronized void deleteAll(Collection<?> keys) {
        for (Iterator<?> each = keys.iterator(); each.hasNext(); ) {
            delete(each.next());
            each.remove();
        }
    }
}
