package org.rowankv.samples.hibernate;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;
import org.jspecify.annotations.Nullable;

/** An address, which has its place among others and its owner by columns that it does not know. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
public class Address {
    @Id
    @GeneratedValue
    private @Nullable Long id;

    private String street = "";

    /** For Hibernate. */
    protected Address() {}

    public Address(String street) {
        this.street = street;
    }

    public @Nullable Long getId() {
        return id;
    }

    public String getStreet() {
        return street;
    }
}
