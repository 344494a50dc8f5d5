package org.rowankv.samples.spring;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.stereotype.Service;

/**
 * Notes by keys of many shapes. Each reading method is cached, each changing one evicts: a response that is older than the
 * last change is one that the cache has kept too long. Thread-safe.
 */
@Service
public class NoteService {
    private static final int PAGE_LENGTH = 10_000;

    private final Notes notes;

    public NoteService(Notes notes) {
        this.notes = notes;
    }

    @Cacheable("notes")
    public @Nullable Integer note(String key) {
        return notes.version("note " + key);
    }

    @CacheEvict("notes")
    public void changeNote(String key) {
        notes.change("note " + key);
    }

    @Cacheable("pairs")
    public @Nullable Integer pair(String first, String second) {
        return notes.version("pair " + first + ' ' + second);
    }

    @CacheEvict("pairs")
    public void changePair(String first, String second) {
        notes.change("pair " + first + ' ' + second);
    }

    @Cacheable("signatures")
    public @Nullable Integer signature(Signature key) {
        return notes.version("signature " + key.group() + ' ' + key.name());
    }

    @CacheEvict("signatures")
    public void changeSignature(Signature key) {
        notes.change("signature " + key.group() + ' ' + key.name());
    }

    @Cacheable("lists")
    public @Nullable Integer list(List<String> key) {
        return notes.version("list " + key);
    }

    @CacheEvict("lists")
    public void changeList(List<String> key) {
        notes.change("list " + key);
    }

    @Cacheable("sets")
    public @Nullable Integer set(Set<String> key) {
        return notes.version("set " + new TreeSet<>(key));
    }

    @CacheEvict("sets")
    public void changeSet(Set<String> key) {
        notes.change("set " + new TreeSet<>(key));
    }

    /** Loaded once for all that ask at once. */
    @Cacheable(value = "shared", sync = true)
    public @Nullable Integer shared(String key) {
        return notes.version("shared " + key);
    }

    @CacheEvict("shared")
    public void changeShared(String key) {
        notes.change("shared " + key);
    }

    /** A failure as a result, with the version as its message. */
    @Cacheable("failures")
    public IllegalStateException failure(String key) {
        return new IllegalStateException(String.valueOf(notes.version("failure " + key)));
    }

    @CacheEvict("failures")
    public void changeFailure(String key) {
        notes.change("failure " + key);
    }

    @Cacheable("pages")
    public @Nullable Page page(String key) {
        final Integer version = notes.version("page " + key);
        return version == null ? null : new Page(version, "x".repeat(PAGE_LENGTH));
    }

    @CacheEvict("pages")
    public void changePage(String key) {
        notes.change("page " + key);
    }
}
