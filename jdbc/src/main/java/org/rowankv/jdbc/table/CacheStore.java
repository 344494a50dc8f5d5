package org.rowankv.jdbc.table;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.classes.AllowedClasses;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.protocol.Request;

/**
 * The store of a connection: requests that deliver the events of caches in this JVM, and a codec that loads no class of
 * the application. Thread-safe.
 */
public final class CacheStore {
    private final SharedStore shared;
    private final @Nullable ClassLoader loader;
    private final Codec codec;

    /** @param loader of the application's classes, from which declared columns are taken; null without these */
    public CacheStore(SharedStore shared, @Nullable ClassLoader loader) {
        this.shared = shared;
        this.loader = loader;
        this.codec = new Codec(
                new LoaderReference(ClassLoader.getPlatformClassLoader()),
                ClassRules.closed(List.of(), AllowedClasses.of("")),
                KeyFormat.STRUCTURAL,
                true);
    }

    RowanClient client() {
        return shared.store().client();
    }

    @Nullable
    ClassLoader loader() {
        return loader;
    }

    Codec codec() {
        return codec;
    }

    /** Executes a request; throws for outcomes that are no results. */
    void execute(Request request) {
        run(request);
        check(request);
    }

    /** Executes a request; its outcome is for the caller to check. */
    void run(Request request) {
        try {
            shared.sharedState(request.cacheId()).execute(client(), request);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    /** Executes unordered requests for one cache; the outcomes are for the caller to check. */
    void executeAll(int cacheId, List<Request> requests) {
        try {
            shared.sharedState(cacheId).executeAll(client(), requests);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    /** Throws if the outcome is no result. */
    static void check(Request request) {
        try {
            RowanClient.checkOutcome(request);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    /** How many entries the cache has just now. */
    long objects(int cacheId) {
        try {
            return client().catalogue().objects(cacheId);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    void clear(int cacheId) {
        try {
            shared.sharedState(cacheId).clear(client(), cacheId);
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }

    /** Destroys a cache for all clients. */
    void destroy(String name, int cacheId) {
        try {
            if (client().catalogue().destroy(name)) {
                shared.forget(cacheId);
            }
        } catch (RowanException e) {
            throw SqlErrors.of(e);
        }
    }
}
