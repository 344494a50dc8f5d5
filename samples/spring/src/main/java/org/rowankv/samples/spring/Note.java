package org.rowankv.samples.spring;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A note of the library with the number of its newest version. Confined to its session. */
@Entity
public class Note {
    @Id
    private String id = "";

    private int version;

    /** For Hibernate. */
    protected Note() {}

    public Note(String id) {
        this.id = id;
    }

    public String getId() {
        return id;
    }

    public int getVersion() {
        return version;
    }

    /** Makes a new version. */
    public void change() {
        version++;
    }
}
