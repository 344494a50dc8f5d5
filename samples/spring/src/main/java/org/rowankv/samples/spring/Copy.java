package org.rowankv.samples.spring;

import jakarta.persistence.Cacheable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;

/** A copy of a book on a shelf. Confined to its session. */
@Entity
@Cacheable
@Cache(usage = CacheConcurrencyStrategy.NONSTRICT_READ_WRITE)
public class Copy {
    @EmbeddedId
    private CopyId id = new CopyId("", 0);

    private String shelf = "";

    /** For Hibernate. */
    protected Copy() {}

    public Copy(CopyId id, String shelf) {
        this.id = id;
        this.shelf = shelf;
    }

    public CopyId getId() {
        return id;
    }

    public String getShelf() {
        return shelf;
    }

    public void setShelf(String newShelf) {
        shelf = newShelf;
    }
}
