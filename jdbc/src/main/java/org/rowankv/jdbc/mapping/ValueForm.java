package org.rowankv.jdbc.mapping;

/** What the columns of a value are made of. */
public enum ValueForm {
    /** One column: the value itself. */
    SCALAR,
    /** The fields of an object, and of those in it. */
    OBJECT,
    /** The entries of a map, by their names. */
    MAP
}
