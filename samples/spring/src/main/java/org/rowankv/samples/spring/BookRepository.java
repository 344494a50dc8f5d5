package org.rowankv.samples.spring;

import jakarta.persistence.QueryHint;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;

/** The books in the database. Thread-safe. */
public interface BookRepository extends JpaRepository<Book, Long> {
    /** From the query cache. */
    @Query("select book from Book book where book.isbn = ?1")
    @QueryHints(@QueryHint(name = "org.hibernate.cacheable", value = "true"))
    @Nullable
    Book byIsbn(String isbn);

    /** From the query cache. */
    @Query("select book.isbn from Book book where book.author.name = ?1 order by book.isbn")
    @QueryHints(@QueryHint(name = "org.hibernate.cacheable", value = "true"))
    List<String> isbnsOf(String author);

    /** A bulk update, which changes rows behind the entities. */
    @Modifying
    @Query("update Book book set book.price = ?2 where book.isbn = ?1")
    int reprice(String isbn, int price);
}
