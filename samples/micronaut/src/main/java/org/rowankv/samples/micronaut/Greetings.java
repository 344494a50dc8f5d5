package org.rowankv.samples.micronaut;

import io.micronaut.cache.annotation.CacheInvalidate;
import io.micronaut.cache.annotation.Cacheable;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicInteger;

/** Greetings that take long to think of. Thread-safe. */
@Singleton
public class Greetings {
    private final AtomicInteger thought = new AtomicInteger();

    /** For Micronaut. */
    public Greetings() {}

    @Cacheable("greetings")
    public String greet(String language, String name) {
        return (language.equals("de") ? "Guten Tag " : "Hello ") + name + ", no. " + thought.incrementAndGet();
    }

    @CacheInvalidate("greetings")
    public void forget(String language, String name) {}
}
