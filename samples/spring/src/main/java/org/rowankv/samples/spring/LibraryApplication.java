package org.rowankv.samples.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;

/** The application. With {@code --library.requests=N} it makes these requests of itself, reports, and ends. */
@SpringBootApplication
@EnableCaching
public class LibraryApplication {
    /** For Spring. */
    public LibraryApplication() {}

    public static void main(String[] arguments) {
        final ConfigurableApplicationContext context = SpringApplication.run(LibraryApplication.class, arguments);
        if (context.getEnvironment().containsProperty("library.requests")) {
            System.exit(SpringApplication.exit(context));
        }
    }
}
