package org.rowankv.samples.hibernate;

import java.io.Serializable;
import java.util.Objects;

/** A key of two columns that the entity has as two fields. */
public final class OfferId implements Serializable {
    private static final long serialVersionUID = 1L;

    private String customer = "";
    private Season season = Season.SPRING;

    /** For Hibernate. */
    OfferId() {}

    public OfferId(String customer, Season season) {
        this.customer = customer;
        this.season = season;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OfferId offer && customer.equals(offer.customer) && season == offer.season;
    }

    @Override
    public int hashCode() {
        return Objects.hash(customer, season);
    }
}
