package org.rowankv.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.junit.jupiter.api.Test;

/** The jar on the class path and one line in a template are all that an application needs. */
class ExampleTest {
    record Author(String name) {}

    record Book(String title, List<Author> authors) {}

    @Test
    void shouldNeedTheJarAndATemplate() {
        final URI store = URI.create("rowan:embedded?template.books.codec=jackson");
        try (CachingProvider provider = Caching.getCachingProvider();
                CacheManager manager = provider.getCacheManager(store, null)) {
            final Cache<String, Book> books = manager.createCache(
                    "books", new MutableConfiguration<String, Book>().setTypes(String.class, Book.class));
            final Book book = new Book("Ulysses", List.of(new Author("Joyce")));
            books.put("978-0", book);
            assertThat(books.get("978-0")).isEqualTo(book).isNotSameAs(book);
        }
    }
}
