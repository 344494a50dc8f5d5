package org.rowankv.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.properties.PropertyMapping;

/**
 * Gives the test's application context a store in this JVM, empty and without a directory, that it shares with no other
 * context; whatever the application's properties say of store and directory. For tests such as {@code @SpringBootTest}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@PropertyMapping("rowan")
public @interface AutoConfigureRowanCache {
    /** The property rowan.uri. */
    String uri() default "rowan:embedded";

    /** The property rowan.dir. */
    String dir() default "";

    /** The setting name, which separates stores without a directory. */
    @PropertyMapping("settings.name")
    String storeName() default "${random.uuid}";
}
