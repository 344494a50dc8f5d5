package org.rowankv.samples.spring;

import jakarta.persistence.EntityManager;
import org.hibernate.Session;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Books by way of Hibernate, whose second-level cache answers most reads. Thread-safe. */
@Service
public class BookService {
    private final EntityManager entities;
    private final BookRepository books;

    public BookService(EntityManager entities, BookRepository books) {
        this.entities = entities;
        this.books = books;
    }

    /** The price by the natural id; null if there is no such book. */
    @Transactional(readOnly = true)
    public @Nullable Integer price(String isbn) {
        final Book book =
                entities.unwrap(Session.class).bySimpleNaturalId(Book.class).load(isbn);
        return book == null ? null : book.getPrice();
    }

    /** As {@link #price}, by a cached query. */
    @Transactional(readOnly = true)
    public @Nullable Integer queriedPrice(String isbn) {
        final Book book = books.byIsbn(isbn);
        return book == null ? null : book.getPrice();
    }

    /** The shelf by a key of two columns; null if there is no such copy. */
    @Transactional(readOnly = true)
    public @Nullable String shelf(CopyId id) {
        final Copy copy = entities.find(Copy.class, id);
        return copy == null ? null : copy.getShelf();
    }

    /** Number of the author's books, by the cached collection. */
    @Transactional(readOnly = true)
    public int booksOf(String name) {
        final Author author =
                entities.unwrap(Session.class).bySimpleNaturalId(Author.class).load(name);
        return author == null ? 0 : author.getBooks().size();
    }

    @Transactional
    public void add(String author, String isbn, int price) {
        final Session session = entities.unwrap(Session.class);
        Author present = session.bySimpleNaturalId(Author.class).load(author);
        if (present == null) {
            present = new Author(author);
            session.persist(present);
        }
        present.getBooks().add(new Book(isbn, price, present));
        session.persist(new Copy(new CopyId(isbn, 1), "0"));
    }

    @Transactional
    public void reprice(String isbn, int price) {
        final Book book =
                entities.unwrap(Session.class).bySimpleNaturalId(Book.class).load(isbn);
        if (book != null) {
            book.setPrice(price);
        }
    }

    /** As {@link #reprice}, in a statement of its own. */
    @Transactional
    public void repriceByStatement(String isbn, int price) {
        books.reprice(isbn, price);
    }

    @Transactional
    public void move(CopyId id, String shelf) {
        final Copy copy = entities.find(Copy.class, id);
        if (copy != null) {
            copy.setShelf(shelf);
        }
    }
}
