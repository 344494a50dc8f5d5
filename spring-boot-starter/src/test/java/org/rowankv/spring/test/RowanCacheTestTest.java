package org.rowankv.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.RowanCacheManager;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.test.context.TestPropertySource;

/** The slice replaces the directory of the application, which would be in the way. */
@RowanCacheTest
@Import(RowanCacheTestTest.Greetings.class)
@TestPropertySource(properties = {"rowan.settings.capacity=16m"})
final class RowanCacheTestTest {
    @SpringBootConfiguration
    @EnableAutoConfiguration
    @ComponentScan(
            excludeFilters =
                    @ComponentScan.Filter(
                            type = org.springframework.context.annotation.FilterType.CUSTOM,
                            classes = org.springframework.boot.context.TypeExcludeFilter.class))
    static class Application {}

    static class Greetings {
        private final AtomicInteger calls = new AtomicInteger();

        public int calls() {
            return calls.get();
        }

        @Cacheable("greetings")
        public String greet(String name) {
            calls.incrementAndGet();
            return "Hello " + name;
        }
    }

    @Component
    static class Unrelated {}

    @Autowired
    private Greetings greetings;

    @Autowired
    private ApplicationContext context;

    @Test
    void shouldCacheWhatTheTestImports() {
        assertThat(greetings.greet("a")).isEqualTo(greetings.greet("a"));
        assertThat(greetings.calls()).isEqualTo(1);
        assertThat(context.getBean(RowanCacheManager.class).getCacheNames()).containsExactly("greetings");
    }

    @Test
    void shouldLoadNothingElseOfTheApplication() {
        assertThat(context.getBeansOfType(Unrelated.class)).isEmpty();
    }
}
