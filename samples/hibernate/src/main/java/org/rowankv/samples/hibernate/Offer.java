package org.rowankv.samples.hibernate;

import jakarta.persistence.Cacheable;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Version;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;

/** An offer: {@code NONSTRICT_READ_WRITE} with a version and an id of two fields. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.NONSTRICT_READ_WRITE)
@IdClass(OfferId.class)
public class Offer {
    @Id
    private String customer = "";

    @Id
    @Enumerated(EnumType.STRING)
    private Season season = Season.SPRING;

    @Version
    private int version;

    private int percent;

    /** For Hibernate. */
    protected Offer() {}

    public Offer(String customer, Season season, int percent) {
        this.customer = customer;
        this.season = season;
        this.percent = percent;
    }

    public String getCustomer() {
        return customer;
    }

    public Season getSeason() {
        return season;
    }

    public int getVersion() {
        return version;
    }

    public int getPercent() {
        return percent;
    }

    public void setPercent(int newPercent) {
        percent = newPercent;
    }
}
