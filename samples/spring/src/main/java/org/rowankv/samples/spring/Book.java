package org.rowankv.samples.spring;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;
import org.hibernate.annotations.NaturalId;
import org.hibernate.annotations.NaturalIdCache;
import org.jspecify.annotations.Nullable;

/** A book, in Hibernate's second-level cache by its id and by its ISBN. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
@NaturalIdCache
public class Book {
    @Id
    @GeneratedValue
    private @Nullable Long id;

    @NaturalId
    private String isbn = "";

    private int price;

    @ManyToOne(fetch = FetchType.LAZY)
    private @Nullable Author author;

    /** For Hibernate. */
    protected Book() {}

    public Book(String isbn, int price, Author author) {
        this.isbn = isbn;
        this.price = price;
        this.author = author;
    }

    public @Nullable Long getId() {
        return id;
    }

    public String getIsbn() {
        return isbn;
    }

    public int getPrice() {
        return price;
    }

    public void setPrice(int newPrice) {
        price = newPrice;
    }

    public @Nullable Author getAuthor() {
        return author;
    }
}
