package org.rowankv.jcache.processor;

/** The net of what a processor did to its entry, to be carried out once when it has returned. */
public enum Action {
    /** Nothing, not even a look at the value. */
    NONE,
    /** Looked at a value that was there. */
    READ,
    /** Looked at a value that was not there, which made the loader bring it. */
    LOADED,
    /** Set a value where none was. */
    CREATED,
    /** Set a value in place of another. */
    UPDATED,
    /** Removed; also of an entry that was not there, for the writer's sake. */
    DELETED
}
