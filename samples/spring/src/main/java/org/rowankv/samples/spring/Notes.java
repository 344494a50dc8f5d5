package org.rowankv.samples.spring;

import jakarta.persistence.EntityManager;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The notes in the database. Thread-safe. */
@Component
public class Notes {
    private final EntityManager entities;

    public Notes(EntityManager entities) {
        this.entities = entities;
    }

    /** The newest version; null before the first. */
    @Transactional(readOnly = true)
    public @Nullable Integer version(String id) {
        final Note note = entities.find(Note.class, id);
        return note == null ? null : note.getVersion();
    }

    @Transactional
    public void change(String id) {
        Note note = entities.find(Note.class, id);
        if (note == null) {
            note = new Note(id);
            entities.persist(note);
        }
        note.change();
    }
}
