package org.rowankv.jdbc.mapping;

/** What the columns of a key are made of. */
public enum KeyForm {
    /** One column: the key itself. */
    SCALAR,
    /** The elements of a list, or the fields of an object. */
    PARTS
}
