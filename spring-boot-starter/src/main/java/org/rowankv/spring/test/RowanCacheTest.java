package org.rowankv.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.autoconfigure.filter.TypeExcludeFilters;
import org.springframework.boot.test.context.SpringBootTestContextBootstrapper;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of cacheable components alone: a context with caches in a store of its own, and of the application only what
 * the test imports.
 *
 * <pre>{@code
 * @RowanCacheTest
 * @Import(BookService.class)
 * class BookServiceTest {
 *     @Autowired
 *     BookService books;
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(SpringBootTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(ComponentExcludeFilter.class)
@AutoConfigureRowanCache
@Import(RowanCacheTest.Caching.class)
public @interface RowanCacheTest {
    /** Enables caching in the context. */
    @EnableCaching
    final class Caching {
        private Caching() {}
    }
}
