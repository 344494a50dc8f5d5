package org.rowankv.samples.hibernate;

import jakarta.persistence.Cacheable;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderColumn;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;
import org.hibernate.annotations.NaturalId;
import org.jspecify.annotations.Nullable;

/** A supplier with cached collections of two kinds: {@code READ_WRITE} without a version. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
public class Supplier {
    @Id
    @GeneratedValue
    private @Nullable Long id;

    @NaturalId
    private String name = "";

    private int rating;

    @OneToMany(mappedBy = "supplier", cascade = CascadeType.ALL, orphanRemoval = true)
    @Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
    private List<Product> products = new ArrayList<>();

    @OneToMany(cascade = CascadeType.ALL, orphanRemoval = true)
    @JoinColumn(name = "supplier", nullable = false)
    @OrderColumn(name = "place")
    @Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
    private List<Address> addresses = new ArrayList<>();

    /** For Hibernate. */
    protected Supplier() {}

    public Supplier(String name) {
        this.name = name;
    }

    public @Nullable Long getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public int getRating() {
        return rating;
    }

    public void setRating(int newRating) {
        rating = newRating;
    }

    public List<Product> getProducts() {
        return products;
    }

    /** In their order; an address does not know its supplier. */
    public List<Address> getAddresses() {
        return addresses;
    }
}
