package org.rowankv.samples.hibernate;

import jakarta.persistence.Cacheable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;

/** What lies on a shelf: {@code NONSTRICT_READ_WRITE} with an embedded id. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.NONSTRICT_READ_WRITE)
public class Stock {
    @EmbeddedId
    private StockId id = new StockId("", 0);

    private int pieces;

    /** For Hibernate. */
    protected Stock() {}

    public Stock(StockId id, int pieces) {
        this.id = id;
        this.pieces = pieces;
    }

    public StockId getId() {
        return id;
    }

    public int getPieces() {
        return pieces;
    }

    public void setPieces(int newPieces) {
        pieces = newPieces;
    }
}
