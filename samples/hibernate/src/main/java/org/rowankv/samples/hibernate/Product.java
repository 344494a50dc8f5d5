package org.rowankv.samples.hibernate;

import jakarta.persistence.Cacheable;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.Set;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;
import org.hibernate.annotations.NaturalId;
import org.hibernate.annotations.NaturalIdCache;
import org.jspecify.annotations.Nullable;

/** A product with a version, a natural id and a collection of words: {@code READ_WRITE}. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
@NaturalIdCache
public class Product {
    @Id
    @GeneratedValue
    private @Nullable Long id;

    @Version
    private int version;

    @NaturalId
    private String number = "";

    private BigDecimal price = BigDecimal.ZERO;
    private LocalDate since = LocalDate.EPOCH;

    @ManyToOne(fetch = FetchType.LAZY)
    private @Nullable Supplier supplier;

    @ElementCollection
    @Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
    private Set<String> words = new HashSet<>();

    /** For Hibernate. */
    protected Product() {}

    public Product(String number, Supplier supplier) {
        this.number = number;
        this.supplier = supplier;
    }

    public @Nullable Long getId() {
        return id;
    }

    public int getVersion() {
        return version;
    }

    public String getNumber() {
        return number;
    }

    public int getPrice() {
        return price.intValueExact();
    }

    /** Changes the price, and the day since when it is valid. */
    public void setPrice(int newPrice) {
        price = BigDecimal.valueOf(newPrice);
        since = LocalDate.EPOCH.plusDays(newPrice);
    }

    public LocalDate getSince() {
        return since;
    }

    public @Nullable Supplier getSupplier() {
        return supplier;
    }

    public Set<String> getWords() {
        return words;
    }
}
